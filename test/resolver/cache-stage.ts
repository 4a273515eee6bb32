/**
 * The stage of scenarios about the cache: a resolver, its table, and the records of the upstream server.
 *
 *     options min-cache-ttl 10, stale off, prefetch off, hide AAAA, cache-size 2     for the whole scenario
 *     0s    knows www.example. 60 A 192.0.2.1 192.0.2.2     from this second on upstream has these records
 *     0s    knows alias.example. 30 CNAME www.example.
 *     0s    knows gone.example. NXDOMAIN soa 300            denied with an SOA record of that TTL and minimum; or without
 *     0s    knows www.example. NODATA soa 5
 *     0s    knows bad.example. SERVFAIL
 *     0s    upstream silent                                 or `answers in 20` (milliseconds, from the start 0), or `refuses-norec`
 *     0s    got one NOERROR 60 192.0.2.1 by upstream        least TTL, data, and who said it: upstream, chain or table
 *     5s    clock -3600                                     the wall clock is set back by an hour
 *     5s    sent 1                                          queries that upstream has had
 *     5s    cached 1                                        answers in the cache
 *     5s    change                                          other upstream servers are used from now on
 *
 * Addresses are sorted as text. `by chain`: no query was sent upstream between question and answer.
 */
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
import type { ScenarioQuestion, ScenarioResult, ScenarioStage } from '@portolan/testing/scenario.ts';
import { UpstreamNames } from '@portolan/testing/upstream/upstream-names.ts';
import { VirtualUpstream } from '@portolan/testing/upstream/virtual-upstream.ts';
import { expect } from 'vitest';
import { CachedResolver, type CachedResolverSettings } from './cached-resolver.ts';

type Source = 'table' | 'chain' | 'upstream';

export class CacheStage implements ScenarioStage {
  readonly clock = new ManualClock();
  readonly tick = 100;
  readonly #names = new UpstreamNames();
  readonly #upstream = new VirtualUpstream(this.clock, this.#names.react);
  readonly #packet = new Uint8Array(4096);
  #options: ReadonlyMap<string, string> = new Map();
  #running:
    | { table: TableWriter; reader: TableReader; resolver: CachedResolver; slowly: HandleQuery }
    | undefined;
  #changes = 0;

  setOptions(values: ReadonlyMap<string, string>): void {
    this.#options = values;
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
      clock: this.clock,
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

  step(verb: string, words: readonly string[], place: string): boolean {
    const [subject = '', ...rest] = words;
    switch (verb) {
      case 'knows':
        this.#names.known.set(toKey(parseName(subject)), parseKnowledge(subject, rest));
        return true;
      case 'upstream':
        this.#names.isSilent = subject === 'silent';
        this.#names.refusesNorec = subject === 'refuses-norec';
        if (subject === 'answers') this.#names.delay = Number(rest.at(-1));
        return true;
      case 'clock':
        this.clock.adjust(Number(subject) * 1000);
        return true;
      case 'sent':
        expect(this.#upstream.count, place).toBe(Number(subject));
        return true;
      case 'cached':
        expect(this.#server.table.statistics().cached, place).toBe(Number(subject));
        return true;
      case 'change':
        this.#changes += 1;
        this.#server.resolver.change(this.#makeSettings());
        return true;
      default:
        return false;
    }
  }

  count(name: string): number | undefined {
    const { cache, forward } = this.#server.resolver.stats();
    const { coalesced, inFlight } = forward;
    return new Map(Object.entries({ ...cache, coalesced, inFlight })).get(name);
  }

  async ask(question: ScenarioQuestion, note: (result: ScenarioResult) => void): Promise<void> {
    const { name, type, dnssecOk, checkingDisabled, recursionDesired } = question;
    const edns = { version: 0, udpSize: 4096, dnssecOk: true, extendedRcode: 0, options: [] };
    const query: Message = {
      header: { ...QUERY_HEADER, checkingDisabled, recursionDesired },
      questions: [{ name, type, class: CLASS.IN }],
      answers: [],
      authorities: [],
      additionals: [],
      edns: dnssecOk ? edns : undefined,
    };
    const octets = encodeMessage(query);
    const { reader, slowly } = this.#server;
    reader.setTime(this.clock.monotonic());
    this.#packet.set(octets);
    const length = reader.answer(this.#packet, 0, octets.length, this.#packet.length, 'tcp');
    if (length > 0) return note(describeAnswer(decodeMessage(this.#packet.slice(0, length)), 'table'));
    const before = this.#upstream.count;
    void slowly(octets, CLIENT).then((response) => {
      const source = this.#upstream.count > before ? 'upstream' : 'chain';
      if (response !== undefined) note(describeAnswer(decodeMessage(response), source));
    });
    // A reply that takes no time is there at once.
    for (let turn = 0; turn < 3; turn += 1) {
      await settle();
      this.clock.advance(0);
    }
    await settle();
  }
}

function describeAnswer({ header, answers }: Message, source: Source): ScenarioResult {
  const least = answers.length === 0 ? [] : [String(Math.min(...answers.map(({ ttl }) => ttl)))];
  const data = answers.map(shortData).sort();
  return { verb: 'got', words: [rcodeName(header.rcode), ...least, ...data, 'by', source].join(' ') };
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

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
