/**
 * Everything behind the names that we know ourselves: upstream servers, the cache in the table, and what follows a change
 * of either's terms.
 */
import type { Answer } from '../../chain/answer.ts';
import { composeChain, type Handler } from '../../chain/chain.ts';
import type { Query } from '../../chain/query.ts';
import type { Connect } from '../../forward/connect.ts';
import { Forwarder, type ForwardStatistics } from '../../forward/forwarder.ts';
import type { ResolveName } from '../../forward/named-servers.ts';
import type { ForwardPlan } from '../../forward/plan.ts';
import type { Clock } from '../../ground/clock.ts';
import type { Log } from '../../ground/log.ts';
import type { TableWriter } from '../../table/writer.ts';
import { encodeName, ROOT } from '../../wire/name.ts';
import type { NameKey, Question } from '../../wire/types.ts';
import { boundTtls } from './bound-ttls.ts';
import { listChangedDomains } from './changed-domains.ts';
import { Forwarding, type ForwardingCounts, type ReplyTerms } from './forwarding.ts';
import { OctetAnswers, type OctetAnswersOptions } from './octet-answers.ts';
import { Prefetching } from './prefetching.ts';
import { Remembering, type RememberingCounts, type StaleTerms } from './remembering.ts';

export interface ResolverTerms extends ReplyTerms {
  readonly forward: ForwardPlan;
  /** Undefined: nothing is served stale. */
  readonly stale: StaleTerms | undefined;
  readonly prefetch: boolean;
  /** Seconds that clients are told at most, however long an answer is kept. The table has its own such bound. */
  readonly mostTtl?: number | undefined;
}

export interface ResolverOptions {
  readonly table: TableWriter;
  readonly clock: Clock;
  readonly log: Log;
  /** Looks up the addresses of upstream servers that are given by name: through ourselves. */
  readonly resolveName: ResolveName;
  /** Those asked before a question goes upstream. What they answer with a lifetime is remembered too. */
  readonly before?: readonly Handler[];
  /** How servers are reached; by sockets by default. */
  readonly connect?: Connect;
  /** From 0 to below 1, for choices that need not be secret. */
  readonly random?: () => number;
}

export interface ResolverFigures {
  readonly forward: ForwardStatistics;
  readonly forwarding: ForwardingCounts;
  readonly remembering: RememberingCounts;
  readonly prefetched: number;
}

export class Resolver {
  readonly #table: TableWriter;
  readonly #clock: Clock;
  readonly #forwarder: Forwarder;
  readonly #forwarding: Forwarding;
  readonly #remembering: Remembering;
  readonly #prefetching: Prefetching;
  #terms: ResolverTerms;
  #generation = 0;

  constructor(terms: ResolverTerms, options: ResolverOptions) {
    const { table, clock, log, before = [] } = options;
    this.#terms = terms;
    this.#table = table;
    this.#clock = clock;
    this.#forwarder = new Forwarder(terms.forward, options);
    this.#forwarding = new Forwarding(this.#forwarder, () => this.#terms, clock, log);
    this.#remembering = new Remembering({
      ask: composeChain([...before, (query) => this.#forwarding.answer(query)]),
      store: table,
      clock,
      recursionAvailable: true,
      stale: () => this.#terms.stale,
      generation: () => this.#generation,
    });
    this.#prefetching = new Prefetching({
      table,
      refresh: (query) => this.#remembering.refresh(query),
      isWanted: () => this.#terms.prefetch,
      clock,
    });
  }

  /** The end of a chain. */
  answer(query: Query): Answer | Promise<Answer> {
    const answer = this.#remembering.answer(query);
    const { mostTtl } = this.#terms;
    if (mostTtl === undefined) return answer;
    return answer instanceof Promise
      ? answer.then((late) => boundTtls(late, mostTtl))
      : boundTtls(answer, mostTtl);
  }

  /** Another way to answers, for questions that nobody before the resolver has anything to say of. */
  answerInOctets(options: OctetAnswersOptions): OctetAnswers {
    const parts = {
      ...{ forwarder: this.#forwarder, forwarding: this.#forwarding, remembering: this.#remembering },
      ...{ table: this.#table, clock: this.#clock },
      isUsable: () => leavesPlainReplies(this.#terms),
    };
    return new OctetAnswers(parts, options);
  }

  /** Whether a question is our own, sent back by a server that we asked. It gets no answer. */
  isOwnProbe(question: Question): boolean {
    return this.#forwarder.isOwnProbe(question);
  }

  /** To be called once queries are received. */
  start(): void {
    this.#forwarder.testForLoops();
    this.#prefetching.start();
  }

  /**
   * Follows other terms. The cached answers that the change covers are dropped; what is under way is answered as it began,
   * and not remembered.
   */
  change(terms: ResolverTerms): void {
    const before = this.#terms;
    this.#terms = terms;
    this.#generation += 1;
    const isOnlyForward =
      before.caching === terms.caching &&
      before.changes === terms.changes &&
      before.hiddenTypes === terms.hiddenTypes;
    const domains = isOnlyForward ? listChangedDomains(before.forward.rules, terms.forward.rules) : [ROOT];
    for (const domain of domains) this.forget(domain);
    this.#forwarder.change(terms.forward);
  }

  /** Forgets what is cached of a name and all below it. @returns how many answers that were */
  forget(domain: NameKey): number {
    this.#generation += 1;
    return this.#table.dropCachedWithin(encodeName(domain));
  }

  figures(): ResolverFigures {
    return {
      forward: this.#forwarder.statistics(),
      forwarding: this.#forwarding.count(),
      remembering: this.#remembering.count(),
      prefetched: this.#prefetching.prefetched,
    };
  }

  /** What is under way fails at once. */
  stop(): void {
    this.#prefetching.stop();
    this.#forwarder.stop();
  }
}

/** Whether clients are told addresses as servers send them, but for the bounds of the cache. */
function leavesPlainReplies({ changes, leavesAddresses, hiddenTypes, mostTtl }: ResolverTerms): boolean {
  return (
    (changes.length === 0 || leavesAddresses === true) && hiddenTypes.size === 0 && mostTtl === undefined
  );
}
