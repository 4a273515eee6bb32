/**
 * Reads the cache counts of dnsmasq in class CHAOS and keeps them as counters that never decrease.
 *
 * A restarted dnsmasq counts from 0 again; its new counts are added here. If one count cannot be read, the whole reading is
 * discarded.
 */
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { AskQuestion } from './probe.ts';
import type { ServerReply } from './server-question.ts';

/** The first labels of the names to query. */
export const COUNT_NAMES = ['hits', 'misses', 'evictions', 'insertions', 'cachesize'] as const;
export type CountName = (typeof COUNT_NAMES)[number];

export interface CountsDependencies {
  readonly ask: AskQuestion;
  /** Milliseconds between two readings, and until the first. */
  readonly interval: number;
  readonly delay: number;
  readonly clock: Clock;
  readonly log: Log;
}

type Reading =
  | { readonly kind: 'read'; readonly counts: ReadonlyMap<CountName, number> }
  | { readonly kind: 'failed'; readonly reason: string };

export class DnsmasqCacheCounts {
  readonly #dependencies: CountsDependencies;
  readonly #totals = new Map<CountName, number>();
  #last: ReadonlyMap<CountName, number> = new Map();
  #errors = 0;
  #hasFailed = false;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(dependencies: CountsDependencies) {
    this.#dependencies = dependencies;
  }

  total(name: CountName): number {
    return this.#totals.get(name) ?? 0;
  }

  /** Readings that failed. */
  get errors(): number {
    return this.#errors;
  }

  /** Reads after the delay, and then periodically. */
  start(): void {
    this.#runAfter(this.#dependencies.delay);
  }

  /** The result of an in-flight query is ignored. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  async #run(): Promise<void> {
    const reading = await this.#read();
    if (this.#isStopped) return;
    if (reading.kind === 'read') this.#add(reading.counts);
    else this.#errors += 1;
    this.#report(reading);
    this.#runAfter(this.#dependencies.interval);
  }

  #runAfter(milliseconds: number): void {
    this.#timer = this.#dependencies.clock.after(milliseconds, () => void this.#run());
  }

  async #read(): Promise<Reading> {
    const counts = new Map<CountName, number>();
    for (const name of COUNT_NAMES) {
      const question = { name: parseName(`${name}.bind.`), type: TYPE.TXT, class: CLASS.CH };
      const count = readCount(await this.#dependencies.ask(question));
      if (typeof count === 'string') return { kind: 'failed', reason: `${name}.bind.: ${count}` };
      counts.set(name, count);
    }
    return { kind: 'read', counts };
  }

  #add(counts: ReadonlyMap<CountName, number>): void {
    for (const [name, count] of counts) {
      const grown = count - (this.#last.get(name) ?? 0);
      if (grown > 0) this.#totals.set(name, this.total(name) + grown);
    }
    this.#last = counts;
  }

  #report(reading: Reading): void {
    const { log } = this.#dependencies;
    if (reading.kind === 'failed' && !this.#hasFailed)
      log.warn('cannot read the counters of dnsmasq', { reason: reading.reason });
    if (reading.kind === 'read' && this.#hasFailed) log.info('counters of dnsmasq readable again');
    this.#hasFailed = reading.kind === 'failed';
  }
}

/** The number in a reply, or an error message. */
function readCount(reply: ServerReply): number | string {
  if (reply.kind === 'failed') return reply.reason;
  const { answers } = reply.message;
  const [record] = answers;
  if (record === undefined || answers.length !== 1)
    return `invalid number of Answer records: ${answers.length}`;
  if (record.data.kind !== 'TXT') return 'missing TXT record';
  const { strings } = record.data;
  const [string] = strings;
  if (string === undefined || strings.length !== 1) return `invalid number of TXT records: ${strings.length}`;
  const text = Buffer.from(string).toString('latin1');
  // dnsmasq prints at most 64 bits; numbers above 2^53 would not be exact.
  const count = /^-?\d{1,19}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(count)) return `not a count: ${JSON.stringify(text)}`;
  return Math.max(count, 0);
}
