/**
 * Signs answers while they are served, for clients that want signatures.
 */
import { CLASS, type NameKey, OPCODE, TYPE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Gauge } from '@portolan/kernel/base/metrics/counted-families.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { CountFamily, type HandlerCount } from '@portolan/kernel/chain/handler-counts.ts';
import {
  isWithinAny,
  joinQuestions,
  type Questions,
  signedNamesWithin,
} from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { EMPTY_ANSWER, isResponse, toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import type { RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import type { DnssecOptions } from './options.ts';
import { signAnswer } from './sign-answer.ts';
import { Signer, type SigningTally } from './signer.ts';

export interface DnssecDependencies {
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly restored: RestoredDeviations;
}

export class Dnssec {
  readonly handler: Handler;
  readonly #zones: ReadonlySet<NameKey>;
  readonly #signer: Signer;
  readonly #clock: Clock;
  readonly #deniesAsCoreDns: boolean;
  readonly #hits: HandlerCount;
  readonly #misses: HandlerCount;
  readonly #entries: Gauge;

  constructor(options: DnssecOptions, { clock, metrics, restored }: DnssecDependencies) {
    this.#zones = new Set(options.zones);
    this.#signer = new Signer(options);
    this.#clock = clock;
    this.#deniesAsCoreDns = restored.has('signed-denials');
    this.#entries = metrics.gauge(
      'coredns_dnssec_cache_entries',
      'The number of elements in the dnssec cache.',
      ['server', 'type'],
    );
    this.#hits = createCount(metrics, 'hits');
    this.#misses = createCount(metrics, 'misses');
    this.handler = {
      name: 'dnssec',
      role: 'other',
      questions: joinQuestions(signedNamesWithin(this.#zones), makeKeyQuestions(this.#zones)),
      answers: 'unchanged',
      changesAnswers: true,
      derivesAnswers: true,
      handle: (query, next) => this.#handle(query, next),
    };
  }

  #handle(query: Query, next: Next): Answer | Promise<Answer> {
    const { type, class: dnsClass } = query.question;
    const isSigned = query.edns?.dnssecOk === true;
    if (dnsClass !== CLASS.IN || query.header.opcode !== OPCODE.QUERY) return next(query);
    if (type === TYPE.DNSKEY && this.#zones.has(query.key)) return this.#answerKeys(query, isSigned);
    const isTransfer = type === TYPE.AXFR || type === TYPE.IXFR;
    if (!isSigned || isTransfer || !isWithinAny(query.key, this.#zones)) return next(query);
    return this.#sign(query, next);
  }

  #answerKeys(query: Query, isSigned: boolean): Answer {
    const tally: SigningTally = { hits: 0, misses: 0 };
    const keys = this.#signer.keysFor(query.key);
    const signatures = isSigned ? this.#signer.sign(keys, query.key, this.#seconds(), tally) : [];
    this.#count(query, tally);
    return { ...EMPTY_ANSWER, authoritative: true, answers: [...keys, ...signatures] };
  }

  async #sign(query: Query, next: Next): Promise<Answer> {
    const answer = await next(query);
    if (answer.kind === 'drop' || !isResponse(answer)) return answer;
    const tally: SigningTally = { hits: 0, misses: 0 };
    const signed = signAnswer(toWholeAnswer(answer), {
      question: query.question,
      signer: this.#signer,
      zones: this.#zones,
      now: this.#seconds(),
      tally,
      deniesAsCoreDns: this.#deniesAsCoreDns,
    });
    this.#count(query, tally);
    return signed;
  }

  /** An answer with new signatures counts as a miss once: only the next one is repeated by readers, and counts as a hit each time. */
  #count(query: Query, { hits, misses }: SigningTally): void {
    if (query.look !== undefined) return;
    if (misses > 0) {
      query.forbidStoring();
      this.#misses.add(query.site, misses);
      this.#hits.add(query.site, hits);
    } else for (let left = hits; left > 0; left -= 1) query.count(this.#hits);
    this.#entries.set({ server: query.site.server, type: 'signature' }, this.#signer.size);
  }

  #seconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}

function createCount(metrics: MetricRegistry, what: 'hits' | 'misses'): HandlerCount {
  const name = `coredns_dnssec_cache_${what}_total`;
  return new CountFamily(metrics, name, `The count of cache ${what}.`, ['server']).with();
}

/** The keys of the zones themselves: any client may ask for them. */
function makeKeyQuestions(zones: ReadonlySet<NameKey>): Questions {
  const types = new Set([TYPE.DNSKEY]);
  return {
    includes: (name, type) => type === TYPE.DNSKEY && zones.has(name),
    *matches() {
      for (const name of zones) yield { name: { kind: 'exact', name }, types };
    },
  };
}
