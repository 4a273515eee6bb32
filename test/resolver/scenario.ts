/**
 * Scenario files about the cache, in virtual time: the records of the upstream, questions with their times, and expected answers.
 *
 *     # a comment; the first one is the name of the scenario
 *     options min-cache-ttl 10, stale off, prefetch off, hide AAAA, cache-size 2     for the whole scenario
 *     0    knows www.example. 60 A 192.0.2.1 192.0.2.2     from this second on upstream has these records
 *     0    knows alias.example. 30 CNAME www.example.
 *     0    knows gone.example. NXDOMAIN soa 300            denied with an SOA record of that TTL and minimum; or without
 *     0    knows www.example. NODATA soa 5
 *     0    knows bad.example. SERVFAIL
 *     0    upstream silent                                 or `answers in 20` (milliseconds, from the start 0), or `refuses-norec`
 *     0    ask one www.example. A                          `do`, `cd` and `norec` may follow
 *     0    got one NOERROR 60 192.0.2.1 by upstream        least TTL, data, and who said it: upstream, chain or table
 *     1.8  waits one                                       it has no answer
 *     5    clock -3600                                      the wall clock is set back by an hour
 *     0    sent 1                                          queries that upstream has had
 *     0    cached 1                                        answers in the cache
 *     0    counts stale 1, prefetched 0
 *     0    change                                          other upstream servers are used from now on
 *
 * Addresses are sorted as text. `by chain`: no query was sent upstream between question and answer.
 */
import { readFileSync } from 'node:fs';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseType, rcodeName } from '@portolan/dns/mnemonics.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { CLASS, type Message, RCODE, type RecordData, type ResourceRecord } from '@portolan/dns/types.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import type { HandleQuery } from '@portolan/kernel/chain/query.ts';
import { CLIENT, QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import { answerByChain } from '@portolan/kernel/engine/server-blocks/testing/one-block.ts';
import { SERVE_CACHING } from '@portolan/kernel/forward/caching/caching-rules.ts';
import { DEFAULT_FORWARD_PLAN, defaultRule } from '@portolan/kernel/forward/forward-plan.ts';
import { parseUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { RFC_8767 } from '@portolan/plugins/cache/options.ts';
import { UpstreamNames } from '@portolan/testing/upstream/upstream-names.ts';
import { VirtualUpstream } from '@portolan/testing/upstream/virtual-upstream.ts';
import { expect } from 'vitest';
import { CachedResolver, type CachedResolverSettings } from './cached-resolver.ts';

/** The scenario's name, from its first comment. */
export function nameOfScenario(path: string): string {
  return /^# (.*)$/m.exec(readFileSync(path, 'utf8'))?.[1] ?? path;
}

/** Runs a scenario file. Fails at the first line that does not hold, named with its number. */
export async function runScenario(path: string): Promise<void> {
  const scenario = new Scenario();
  for (const [index, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    const words = line
      .replace(/#.*$/, '')
      .trim()
      .split(/[\s,]+/);
    if (words[0] !== '') await scenario.run(words, `${path}:${index + 1}: ${line}`);
  }
  scenario.stop();
}

type Source = 'table' | 'chain' | 'upstream';

class Scenario {
  readonly #clock = new ManualClock();
  readonly #names = new UpstreamNames();
  readonly #upstream = new VirtualUpstream(this.#clock, this.#names.react);
  readonly #answers = new Map<string, string | undefined>();
  readonly #packet = new Uint8Array(4096);
  #options = new Map<string, string>();
  #running:
    | { table: TableWriter; reader: TableReader; resolver: CachedResolver; slowly: HandleQuery }
    | undefined;
  #changes = 0;

  async run(words: readonly string[], place: string): Promise<void> {
    const [first = '', verb = '', ...rest] = words;
    if (first === 'options') {
      this.#options = new Map(pairs(words.slice(1)));
      return;
    }
    expect(first, `a time to begin with: ${place}`).toMatch(/^\d+(\.\d+)?$/);
    await this.#advanceTo(Math.round(Number(first) * 1000), place);
    await this.#step(verb, rest, place);
  }

  stop(): void {
    this.#running?.resolver.stop();
  }

  get #server() {
    this.#running ??= this.#start();
    return this.#running;
  }

  #start() {
    const cacheEntries = Number(this.#options.get('cache-size') ?? Number.POSITIVE_INFINITY);
    const { maxTtl } = this.#makeSettings().cache;
    const table = new TableWriter({ readers: 1, reservation: 32 * 2 ** 20, seed: 7, cacheEntries, maxTtl });
    const resolver = new CachedResolver(this.#makeSettings(), {
      table,
      clock: this.#clock,
      log: silentLog,
      resolveName: () => Promise.reject(new Error('no names here')),
      connect: () => this.#upstream,
      random: () => 0.5,
    });
    resolver.start();
    const slowly = answerByChain((query) => resolver.answer(query), silentLog);
    return { table, reader: new TableReader(table.memory, 0), resolver, slowly };
  }

  #makeSettings(): CachedResolverSettings {
    const option = (name: string, usual: number | undefined) =>
      this.#options.has(name) ? Number(this.#options.get(name)) : usual;
    const isOn = (name: string) => this.#options.get(name) !== 'off';
    const server = parseUpstream(`192.0.2.${53 + this.#changes}`);
    return {
      forward: { ...DEFAULT_FORWARD_PLAN, loopDetection: false, rules: [defaultRule([server])] },
      cache: {
        kind: 'own',
        caching: {
          ...SERVE_CACHING,
          minCacheTtl: option('min-cache-ttl', 0) ?? 0,
          maxCacheTtl: option('max-cache-ttl', SERVE_CACHING.maxCacheTtl),
          negTtl: option('neg-ttl', undefined),
          maxNegativeTtl: option('max-negative-ttl', SERVE_CACHING.maxNegativeTtl),
          negativeCaching: isOn('negatives'),
        },
        serveStale: isOn('stale') ? { ...RFC_8767, verifyTimeout: option('patience', 1800) } : undefined,
        refreshesUsed: isOn('prefetch'),
        maxTtl: option('max-ttl', undefined),
      },
      filteredTypes: new Set([parseType(this.#options.get('hide') ?? '') ?? []].flat()),
    };
  }

  async #advanceTo(time: number, place: string): Promise<void> {
    expect(time, `time goes on: ${place}`).toBeGreaterThanOrEqual(this.#clock.monotonic());
    // In steps, so that what follows from an answer happens at its own moment.
    while (this.#clock.monotonic() < time) {
      this.#clock.advance(Math.min(100, time - this.#clock.monotonic()));
      await settle();
    }
  }

  async #step(verb: string, words: readonly string[], place: string): Promise<void> {
    const [subject = '', ...rest] = words;
    switch (verb) {
      case 'knows':
        this.#names.known.set(toKey(parseName(subject)), parseKnowledge(subject, rest));
        return;
      case 'upstream':
        this.#names.isSilent = subject === 'silent';
        this.#names.refusesNorec = subject === 'refuses-norec';
        if (subject === 'answers') this.#names.delay = Number(rest.at(-1));
        return;
      case 'ask':
        await this.#ask(subject, rest);
        return;
      case 'got':
      case 'waits':
        expect(this.#answers.get(subject) ?? 'waits', place).toBe([verb, ...rest].join(' '));
        return;
      case 'clock':
        this.#clock.adjust(Number(subject) * 1000);
        return;
      case 'sent':
        expect(this.#upstream.count, place).toBe(Number(subject));
        return;
      case 'cached':
        expect(this.#server.table.statistics().cached, place).toBe(Number(subject));
        return;
      case 'counts':
        for (const [name, count] of pairs(words))
          expect(this.#count(name), `${name} in ${place}`).toBe(Number(count));
        return;
      case 'change':
        this.#changes += 1;
        this.#server.resolver.change(this.#makeSettings());
        return;
      default:
        throw new Error(`not a step: ${place}`);
    }
  }

  #count(name: string): number | undefined {
    const { cache, forward } = this.#server.resolver.stats();
    const { coalesced, inFlight } = forward;
    return new Map(Object.entries({ ...cache, coalesced, inFlight })).get(name);
  }

  async #ask(id: string, [name = '', type = '', ...flags]: readonly string[]): Promise<void> {
    const edns = { version: 0, udpSize: 4096, dnssecOk: true, extendedRcode: 0, options: [] };
    const query: Message = {
      header: {
        ...QUERY_HEADER,
        checkingDisabled: flags.includes('cd'),
        recursionDesired: !flags.includes('norec'),
      },
      questions: [{ name: parseName(name), type: parseType(type) ?? 0, class: CLASS.IN }],
      answers: [],
      authorities: [],
      additionals: [],
      edns: flags.includes('do') ? edns : undefined,
    };
    this.#answers.set(id, undefined);
    const octets = encodeMessage(query);
    const { reader, slowly } = this.#server;
    reader.setTime(this.#clock.monotonic());
    this.#packet.set(octets);
    const length = reader.answer(this.#packet, 0, octets.length, this.#packet.length, 'tcp');
    if (length > 0) return this.#note(id, decodeMessage(this.#packet.slice(0, length)), 'table');
    const before = this.#upstream.count;
    void slowly(octets, CLIENT).then((response) => {
      const source = this.#upstream.count > before ? 'upstream' : 'chain';
      if (response !== undefined) this.#note(id, decodeMessage(response), source);
    });
    // A reply that takes no time is there at once.
    for (let turn = 0; turn < 3; turn += 1) {
      await settle();
      this.#clock.advance(0);
    }
    await settle();
  }

  #note(id: string, { header, answers }: Message, source: Source): void {
    const least = answers.length === 0 ? [] : [String(Math.min(...answers.map(({ ttl }) => ttl)))];
    const data = answers.map(shortData).sort();
    this.#answers.set(id, ['got', rcodeName(header.rcode), ...least, ...data, 'by', source].join(' '));
  }
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

function* pairs(words: readonly string[]): Iterable<[string, string]> {
  for (let index = 0; index + 1 < words.length; index += 2)
    yield [words[index] ?? '', words[index + 1] ?? ''];
}

function shortData({ data }: ResourceRecord): string {
  if ('address' in data) return data.address;
  return 'target' in data ? data.target : data.kind;
}

function parseKnowledge(owner: string, words: readonly string[]) {
  const [ttl = '', type = '', ...rest] = words;
  const name = parseName(owner);
  if (!/^\d+$/.test(ttl)) return parseDenial(owner, words);
  const answers = rest.map((text) => ({
    name,
    class: CLASS.IN,
    ttl: Number(ttl),
    data: parseData(type, text),
  }));
  return { rcode: RCODE.NOERROR, answers, authorities: [] };
}

function parseData(type: string, text: string): RecordData {
  if (type === 'A' || type === 'AAAA') return { kind: type, address: text };
  if (type === 'CNAME' || type === 'PTR') return { kind: type, target: parseName(text) };
  return { kind: 'TXT', strings: [Buffer.from(text)] };
}

function parseDenial(owner: string, [kind = '', word, seconds]: readonly string[]) {
  const rcode = kind === 'NODATA' ? RCODE.NOERROR : kind === 'NXDOMAIN' ? RCODE.NXDOMAIN : RCODE.SERVFAIL;
  const name = parseName(owner);
  const numbers = { serial: 1, refresh: 2, retry: 3, expire: 4, minimum: Number(seconds) };
  const data = { kind: 'SOA', primary: name, mailbox: name, ...numbers } as const;
  const soa = { name, class: CLASS.IN, ttl: Number(seconds), data };
  return { rcode, answers: [], authorities: word === 'soa' ? [soa] : [] };
}
