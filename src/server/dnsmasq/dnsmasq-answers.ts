/**
 * Everything between dnsmasq's options and an answer: the table, the handler chain, the upstream servers.
 */
import { createAnswerSlowly } from '../../chain/answer-slowly.ts';
import { type Chain, composeChain, type Handler } from '../../chain/chain.ts';
import type { DnsmasqPlan } from '../../config/dnsmasq/plan.ts';
import type { Connect } from '../../forward/connect.ts';
import type { Clock, Timer } from '../../ground/clock.ts';
import type { Log } from '../../ground/log.ts';
import { createChaosHandler } from '../../handlers/chaos.ts';
import { checkQuestionKind } from '../../handlers/question-kinds.ts';
import { createNameResolver } from '../../handlers/resolver/name-resolver.ts';
import { Resolver, type ResolverTerms } from '../../handlers/resolver/resolver.ts';
import type { AnswerInOctets, AnswerSlowly } from '../../listen/types.ts';
import { CounterSums, countAnswered } from '../../table/counter-sums.ts';
import { TableReader } from '../../table/reader.ts';
import { TableWriter } from '../../table/writer.ts';
import { ROOT } from '../../wire/name.ts';
import type { ResourceRecord } from '../../wire/types.ts';
import { countAnswers, createAnswerCount } from '../answer-counts.ts';
import { identityOf } from '../chaos-identity.ts';
import { LocalSide } from '../local-side.ts';
import { createTypeLimit, makeCachingRules, makeStaleTerms, mostTtlOf } from './caching-rules.ts';
import { type ChangingServers, makeForwardPlan } from './forward-plan.ts';
import type { Interfaces } from './interface-choice.ts';
import { listLocalNetworks, makeLocalTerms } from './local-terms.ts';
import { type DnsmasqStatistics, describeServers } from './statistics.ts';

export interface DnsmasqAnswersOptions {
  readonly plan: DnsmasqPlan;
  /** Reader threads. */
  readonly udpReaders: number;
  readonly interfaces: () => Interfaces;
  readonly version: string;
  /** How upstream servers are reached. */
  readonly connect: Connect;
  readonly clock: Clock;
  readonly log: Log;
}

/** Octets for cached answers: room for as many as the option says, of a common size, within bounds. */
const OCTETS_PER_ANSWER = 512;
const LEAST_CACHE_OCTETS = 4 * 2 ** 20;
const MOST_CACHE_OCTETS = 512 * 2 ** 20;
const SUM_MILLISECONDS = 600_000;
export const NO_FILES_READ: ChangingServers = { fromResolvFile: [], moreRoutes: [] };

export class DnsmasqAnswers {
  readonly table: TableWriter;
  /** The main thread's own look-ups. */
  readonly reader: TableReader;
  readonly answerSlowly: AnswerSlowly;
  readonly answerInOctets: AnswerInOctets;
  readonly #local: LocalSide;
  readonly #resolver: Resolver;
  readonly #plan: DnsmasqPlan;
  readonly #clock: Clock;
  readonly #sums: CounterSums;
  #terms: ResolverTerms;
  #timer: Timer | undefined;

  constructor(options: DnsmasqAnswersOptions) {
    const { plan, udpReaders, version, interfaces, connect, clock, log } = options;
    this.#plan = plan;
    this.#clock = clock;
    this.table = new TableWriter({
      readers: udpReaders + 1,
      cacheEntries: plan.cache.size,
      mostTtl: mostTtlOf(plan.cache),
      cacheOctets: Math.min(
        Math.max(plan.cache.size * OCTETS_PER_ANSWER, LEAST_CACHE_OCTETS),
        MOST_CACHE_OCTETS,
      ),
    });
    this.reader = new TableReader(this.table.memory, udpReaders, plan.listen.ednsPacketMax);
    this.#sums = new CounterSums(this.table.memory, udpReaders + 1);
    this.#local = new LocalSide({
      terms: makeLocalTerms(plan, interfaces()),
      networks: () => listLocalNetworks(interfaces()),
      ...{ table: this.table, recursionAvailable: true, clock, log },
      forget: (domains) => {
        for (const domain of domains) this.#resolver.forget(domain);
      },
    });
    this.#terms = this.#makeTerms();
    this.#resolver = new Resolver(this.#terms, {
      ...{ table: this.table, connect, clock, log },
      resolveName: createNameResolver(() => chain),
      before: [createTypeLimit(plan.cache)],
    });
    const chain = this.#makeChain(version);
    const answerSlowly = createAnswerSlowly(chain, {
      recursionAvailable: true,
      udpSize: plan.listen.ednsPacketMax,
      log,
    });
    const counting = { memory: this.table.memory, reader: udpReaders, clock };
    this.answerSlowly = countAnswers(answerSlowly, counting);
    const inOctets = this.#resolver.answerInOctets({
      isOutside: (name, type) => !this.#local.concerns(name, type),
      udpSize: plan.listen.ednsPacketMax,
      onAnswer: createAnswerCount(counting),
    });
    this.answerInOctets = (asker) => inOctets.ask(asker);
    this.#sumNowAndThen();
  }

  /** Ends when the names of hosts files are known. */
  async readHosts(): Promise<void> {
    await this.#local.start();
  }

  /** The hosts file that a record of ours is from; nothing for one of an option. */
  fileOf(record: ResourceRecord): string | undefined {
    return this.#local.fileOf(record);
  }

  /** Looks for changed hosts files at once, though they are followed. */
  rereadHosts(): void {
    this.#local.reload();
  }

  /** To be called once queries are received. */
  start(): void {
    this.#resolver.start();
  }

  /** Follows other servers. */
  follow(servers: ChangingServers): void {
    this.#local.followRoutes(servers.moreRoutes);
    this.#terms = { ...this.#terms, forward: makeForwardPlan(this.#plan, servers) };
    this.#resolver.change(this.#terms);
  }

  clearCache(): void {
    this.#resolver.forget(ROOT);
    this.table.collect();
  }

  statistics(): Omit<DnsmasqStatistics, 'connections' | 'mostConnections'> {
    const { remembering, forward } = this.#resolver.figures();
    const { misses, stale } = remembering;
    const { insertions, evictions, cachedOctets } = this.table.statistics();
    const { inFlight, upstreams } = forward;
    return {
      ...{ cacheSize: this.#plan.cache.size, insertions, evictions, misses, stale, inFlight },
      hits: Math.max(0, countAnswered(this.#sums.read()) - misses),
      cacheOctets: cachedOctets,
      servers: describeServers(upstreams),
    };
  }

  stop(): void {
    this.#timer?.cancel();
    this.#local.stop();
    this.#resolver.stop();
  }

  #makeTerms(): ResolverTerms {
    const { cache, filters } = this.#plan;
    return {
      forward: makeForwardPlan(this.#plan, NO_FILES_READ),
      caching: makeCachingRules(cache),
      changes: [this.#local.filterReply],
      leavesAddresses: this.#local.leavesAddresses,
      mayExist: this.#local.mayExist,
      mostTtl: mostTtlOf(cache),
      hiddenTypes: new Set(filters.types),
      keepsOrder: !cache.roundRobin,
      stale: makeStaleTerms(cache),
      // dnsmasq never asks of its own accord.
      prefetch: false,
    };
  }

  #makeChain(version: string): Chain {
    const { identifies, ttl } = this.#plan.local;
    const chaos = createChaosHandler({
      identifies,
      ...identityOf(version),
      ttl,
      figures: () => this.statistics(),
    });
    const handlers: readonly Handler[] = [
      (query, next) => (this.#resolver.isOwnProbe(query.question) ? { kind: 'drop' } : next(query)),
      chaos,
      checkQuestionKind,
      this.#local.knownNames,
      this.#local.questionRules,
      (query) => this.#resolver.answer(query),
    ];
    return composeChain(handlers);
  }

  /** Readers count in 32 bits: their counts are taken before they come round, whether or not anybody asks. */
  #sumNowAndThen(): void {
    this.#timer = this.#clock.after(SUM_MILLISECONDS, () => {
      this.#sums.read();
      this.#sumNowAndThen();
    });
  }
}
