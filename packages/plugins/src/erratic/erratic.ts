/**
 * Answers every question with the same data; as set, some answers are late, truncated or missing.
 */
import { joinName, NameError, parseName, ROOT } from '@portolan/dns/name.ts';
import {
  type AbsoluteName,
  CLASS,
  RCODE,
  type RecordData,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Answer, WholeAnswer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { ALL_QUESTIONS } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { Plugin } from '@portolan/kernel/contract/plugin.ts';
import type { ErraticOptions } from './options.ts';

/** RFC 5737 and RFC 3849. */
const ADDRESS: RecordData = { kind: 'A', address: '192.0.2.53' };
const ADDRESS_6: RecordData = { kind: 'AAAA', address: '2001:db8::53' };
const LARGE_COUNT = 30;
const SOA: RecordData = {
  kind: 'SOA',
  primary: parseName('sns.dns.icann.org.'),
  mailbox: parseName('noc.dns.icann.org.'),
  serial: 2018050825,
  refresh: 7200,
  retry: 3600,
  expire: 1209600,
  minimum: 3600,
};

export class Erratic implements Plugin {
  readonly handler: Handler = {
    name: 'erratic',
    role: 'other',
    questions: ALL_QUESTIONS,
    answers: 'unchanged',
    handle: (query) => this.#answer(query),
  };
  readonly #options: ErraticOptions;
  readonly #clock: Clock;
  /** Queries so far. */
  #queries = 0;

  constructor(options: ErraticOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** As in CoreDNS: ready only between the third and the fifth query, so that observers see a change. */
  isReady(): boolean {
    return this.#queries >= 3 && this.#queries < 5;
  }

  async #answer(query: Query): Promise<Answer> {
    query.forbidStoring();
    const number = this.#queries;
    this.#queries += 1;
    const { drop, delay, duration } = this.#options;
    if (isHit(number, drop)) return { kind: 'drop' };
    if (isHit(number, delay)) await this.#wait(duration);
    return this.#answerWith(query, number);
  }

  #answerWith({ question: { name, type } }: Query, number: number): Answer {
    const { truncate, isLarge } = this.#options;
    // CoreDNS 1.14.7 compares bits here and divides elsewhere.
    const truncated = truncate > 0 && (number & truncate) === 0;
    switch (type) {
      case TYPE.A:
        return answered(Array(isLarge ? LARGE_COUNT : 1).fill(makeRecord(name, ADDRESS)), truncated);
      case TYPE.AAAA:
        return answered([makeRecord(name, ADDRESS_6)], truncated);
      case TYPE.AXFR:
        return makeTransfer(name, truncated);
      default:
        return { kind: 'servfail' };
    }
  }

  #wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(Math.max(0, milliseconds), resolve);
    });
  }
}

function isHit(number: number, amount: number): boolean {
  return amount > 0 && number % amount === 0;
}

/** A small zone; if truncated, without its last record. CoreDNS sends none if it cannot make the names, or for the root. */
function makeTransfer(zone: AbsoluteName, isCut: boolean): Answer {
  if (zone === ROOT) return { kind: 'drop' };
  try {
    const a = joinName('a', zone);
    const b = joinName('b', zone);
    const soa = makeRecord(zone, SOA);
    const records = [
      soa,
      makeRecord(zone, { kind: 'NS', target: b }),
      makeRecord(zone, { kind: 'NS', target: a }),
      makeRecord(a, { kind: 'AAAA', address: '2001:bd8::53' }),
      makeRecord(b, { kind: 'AAAA', address: '2001:500::54' }),
    ];
    return answered(isCut ? records : [...records, soa], false);
  } catch (error) {
    if (error instanceof NameError) return { kind: 'drop' };
    throw error;
  }
}

function makeRecord(name: AbsoluteName, data: RecordData): ResourceRecord {
  return { name, class: CLASS.IN, ttl: 0, data };
}

function answered(answers: readonly ResourceRecord[], truncated: boolean): WholeAnswer {
  return {
    kind: 'message',
    rcode: RCODE.NOERROR,
    authoritative: true,
    truncated,
    recursionAvailable: false,
    authenticData: false,
    answers,
    authorities: [],
    additionals: [],
  };
}
