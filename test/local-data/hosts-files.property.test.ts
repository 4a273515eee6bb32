/**
 * Random hosts files, as dnsmasq and as CoreDNS read them: readers and the handler chain answer what a simple model of the text says.
 */
import { formatAddress, parseAddress, reverseName } from '@portolan/dns/address.ts';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName, ROOT, toKey, tryParseKey } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { DNSMASQ_HOSTS } from '@portolan/frontends/dnsmasq/settings/hosts-manner.ts';
import { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { makeQuery, QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import { composeRecords } from '@portolan/kernel/records/cluster-composer.ts';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import { DEFAULT_VIEW, type PublicationId, VERDICT } from '@portolan/kernel/table/types.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { Hosts } from '@portolan/plugins/hosts/hosts.ts';
import { LocalNames } from '@portolan/sources/local/local-names.ts';
import { hostsOnly } from '@portolan/sources/local/local-plan.ts';
import { LocalPublication } from '@portolan/sources/local/local-publication.ts';
import { readHosts } from '@portolan/sources/local/read-hosts.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

/** Each asks some fifty questions twice. */
const RUNS = 40;
const TYPES = ['A', 'AAAA', 'PTR'] as const;
type Type = (typeof TYPES)[number];

const ADDRESSES = ['192.0.2.1', '192.0.2.2', '0.0.0.0', '2001:db8::1', '2001:DB8:0::1', 'fe80::1%eth0'];
const ODD_ADDRESSES = ['::ffff:192.0.2.1', '::ffff:c000:202', '192.0.2.01', '192.0.2', 'nonsense', '#'];
const NAMES = ['a', 'a.example', 'b.example.', 'x.a.example', '1.2.0.192.in-addr.arpa', 'd_1-2.example'];
const ODD_NAMES = ['A.Example', '*.example', '*.a.example', 'a..b', '.', '#c', 'b#c', `${'l'.repeat(64)}.x`];
const TEXTS = [...NAMES, ...ODD_NAMES];

const line = fc
  .record({
    address: fc.constantFrom(...ADDRESSES, ...ODD_ADDRESSES),
    names: fc.array(fc.constantFrom(...TEXTS), { maxLength: 4 }),
    blank: fc.constantFrom(' ', '\t', '  ', '\r'),
    before: fc.constantFrom('', ' '),
    after: fc.constantFrom('', '\r', ' # comment'),
  })
  .map(({ address, names, blank, before, after }) => `${before}${[address, ...names].join(blank)}${after}`);
/** With a name of more addresses, and an address of more names, than readers compose. */
const crowd = fc.constantFrom(
  Array.from({ length: 20 }, (_, index) => `198.51.100.${index} a.example`),
  [`192.0.2.2 ${Array.from({ length: 7 }, (_, index) => `n${index}.example`).join(' ')}`],
  [],
);
const file = fc
  .tuple(fc.array(line, { maxLength: 12 }), crowd)
  .map(([lines, others]) => [...lines, ...others]);

/** All questions about these names, and about the names of these addresses. */
const QUESTIONS = [
  'a.',
  'a.example.',
  'b.example.',
  'x.a.example.',
  'y.a.example.',
  'n1.example.',
  'none.example.',
  '*.example.',
  'd_1-2.example.',
  'example.',
  'x.x.a.example.',
  ...['192.0.2.1', '192.0.2.2', '0.0.0.0', '198.51.100.7', '2001:db8::1', 'fe80::1'].map(reverseName),
].flatMap((name) => TYPES.map((type) => ({ name: toKey(parseName(name)), type })));

/** A reader of a table that shows one publication, without rotation. */
class Asked {
  readonly #table: TableWriter;
  readonly #reader: TableReader;

  constructor(table: TableWriter, publication: PublicationId) {
    this.#table = table;
    this.#reader = new TableReader(table.memory, 0, undefined, composeRecords);
    this.#show([publication]);
  }

  /** @returns records, or `ask` */
  ask(name: string, type: Type): string {
    const { question } = makeQuery(name, type);
    const asked = { header: QUERY_HEADER, answers: [], authorities: [], additionals: [], edns: undefined };
    const packet = encodeMessage({ ...asked, questions: [question] });
    const octets = new Uint8Array(4096);
    octets.set(packet);
    const length = this.#reader.answer(octets, 0, packet.length, octets.length, 'tcp');
    if (length === VERDICT.ASK) return 'ask';
    return decodeMessage(octets.slice(0, length)).answers.map(presentRecord).join('\n');
  }

  end(): void {
    this.#show([]);
  }

  #show(publications: readonly PublicationId[]): void {
    const view = this.#table.viewSettings(DEFAULT_VIEW);
    this.#table.changeView(DEFAULT_VIEW, { ...view, publications, rotatesAddresses: false });
  }
}

const present = (name: string, type: Type, all: readonly string[]) =>
  all.map((data) => `${name} 5 IN ${type} ${data}`).join('\n');

const makeTable = () => new TableWriter({ readers: 1, reservation: 2 ** 22, cacheOctets: 2 ** 16 });

describe('a hosts file of dnsmasq', () => {
  function makeModel(lines: readonly string[]) {
    const addresses = new Map<string, string[]>();
    const pointers = new Map<string, string>();
    for (const text of lines) {
      const [first = '', ...words] = (text.split('#')[0] ?? '').trim().split(/[ \t\r]+/);
      const octets = parseAddress(first);
      if (octets === undefined) continue;
      const address = formatAddress(octets);
      for (const word of words) {
        const reading = DNSMASQ_HOSTS.readName(word);
        const name = word === '' || reading.kind === 'other' ? undefined : tryParseKey(word.toLowerCase());
        if (name === undefined) continue;
        const known = addresses.get(name) ?? [];
        if (!known.includes(address)) known.push(address);
        addresses.set(name, known);
        if (!pointers.has(reverseName(address))) pointers.set(reverseName(address), name);
      }
    }
    return (name: string, type: Type): readonly string[] => {
      const pointer = pointers.get(name);
      if (type === 'PTR') return pointer === undefined ? [] : [pointer];
      return (addresses.get(name) ?? []).filter((address) => address.includes(':') === (type === 'AAAA'));
    };
  }

  function open(lines: readonly string[]) {
    const table = makeTable();
    const publication = new LocalPublication(table, silentLog);
    const rules = { outcome: 0, answersBoth: false, leadsTo: 'first', keepsRepeated: false } as const;
    const read = (all: readonly string[]) => {
      const names = publication.makeHostNames(rules);
      const octets = Buffer.from(all.join('\n'));
      const pieces = function* (): Generator<Uint8Array, boolean> {
        for (let at = 0; at < octets.length; at += 17) yield octets.subarray(at, at + 17);
        return true;
      };
      const guard = new ItemGuard({ source: 'hosts', clock: new ManualClock(), log: silentLog });
      const plan = hostsOnly(5);
      const files = [{ path: '/hosts', digest: '', size: octets.length, read: pieces }];
      for (const _ of readHosts(names, { plan, files, manner: DNSMASQ_HOSTS, onWarning: () => {}, guard }));
      return new LocalNames(plan, names, 0);
    };
    let known = read([]);
    const replace = (all: readonly string[]) => {
      const after = read(all);
      for (const _ of publication.replace(known.nodes, after.nodes, after.hosts));
      known.hosts.retire();
      known = after;
    };
    replace(lines);
    return { asked: new Asked(table, publication.id), replace, names: () => known };
  }

  it('is answered by readers and by the chain, also when another one takes its place', () => {
    fc.assert(
      fc.property(file, file, (before, after) => {
        const { asked, replace, names } = open(before);
        for (const lines of [before, after]) {
          if (lines === after) replace(after);
          const model = makeModel(lines);
          for (const { name, type } of QUESTIONS) {
            const expected = present(name, type, model(name, type));
            // Others may know what is missing.
            expect(asked.ask(name, type)).toBe(expected === '' ? 'ask' : expected);
            const answer = names().answer(name, { A: 1, AAAA: 28, PTR: 12 }[type]);
            expect(answer?.records.map(presentRecord).join('\n') ?? '').toBe(expected);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });
});

describe('a hosts file of CoreDNS', () => {
  /** One text: the file, or the lines of the Corefile. */
  function modelOfText(lines: readonly string[]) {
    const addresses = new Map<string, string[]>();
    const pointers = new Map<string, string[]>();
    const append = (all: Map<string, string[]>, key: string, value: string) =>
      all.set(key, [...(all.get(key) ?? []), value]);
    for (const text of lines) {
      const [first = '', ...words] = (text.split('#')[0] ?? '').trim().split(/\s+/);
      const octets = parseAddress(first.split('%')[0] ?? '');
      if (octets === undefined) continue;
      const address = formatAddress(octets).replace(/^::ffff:(?=.*\.)/, '');
      const type = address.includes(':') ? 'AAAA' : 'A';
      for (const word of words) {
        const name = tryParseKey(word);
        if (name === undefined) continue;
        append(addresses, `${name} ${type}`, address);
        if (!name.startsWith('*.')) append(pointers, reverseName(address), name);
      }
    }
    const wildcard = (name: string) => `*.${name.slice(name.indexOf('.') + 1)}`;
    return (name: string, type: Type): readonly string[] => {
      if (type === 'PTR') return pointers.get(name) ?? [];
      const hasParent = name.indexOf('.') < name.length - 1;
      const other = hasParent ? addresses.get(`${wildcard(name)} ${type}`) : undefined;
      return addresses.get(`${name} ${type}`) ?? other ?? [];
    };
  }

  it('is answered by readers and by the chain, its lines of the Corefile behind it', async () => {
    const folder = await makeTemporaryFolder();
    await fc.assert(
      fc.asyncProperty(file, fc.array(line, { maxLength: 5 }), async (lines, inline) => {
        const table = makeTable();
        const clock = new ManualClock();
        const metrics = new MetricRegistry();
        const options = {
          path: await folder.write('hosts', lines.join('\n')),
          zones: [ROOT],
          inline,
          ttl: 5,
          hasReverse: true,
          reload: 0,
          fallthrough: [ROOT],
          fallsThroughUnsupported: false,
        };
        const hosts = new Hosts(options, { table, clock, metrics, log: silentLog, readTtl: undefined });
        await hosts.start();
        const asked = new Asked(table, hosts.publication);
        const texts = [modelOfText(lines), modelOfText(inline)];
        const model = (name: string, type: Type) => texts.flatMap((text) => text(name, type));
        for (const { name, type } of QUESTIONS) {
          const isKnown = type !== 'PTR' && [...model(name, 'A'), ...model(name, 'AAAA')].length > 0;
          const all = model(name, type);
          const expected = isKnown || all.length > 0 ? present(name, type, all) : 'passed';
          const said = await hosts.handler.handle(makeQuery(name, type), () => ({ kind: 'refused' }));
          const answered = said.kind === 'message' ? said.answers.map(presentRecord).join('\n') : 'passed';
          expect(answered).toBe(expected);
          // Names that only a wildcard knows are for the chain.
          const ofReader = asked.ask(name, type);
          if (ofReader !== 'ask') expect(ofReader).toBe(expected);
          else if (isNamed([...lines, ...inline], name)) expect(expected).toBe('passed');
        }
        asked.end();
        await hosts.stop();
      }),
      { numRuns: RUNS },
    );
  });

  /** Whether a line has the name itself. */
  function isNamed(lines: readonly string[], name: string): boolean {
    if (name.startsWith('*.')) return false;
    return lines.some((text) => {
      const [first = '', ...words] = (text.split('#')[0] ?? '').trim().split(/\s+/);
      const isAddress = parseAddress(first.split('%')[0] ?? '') !== undefined;
      return isAddress && words.some((word) => tryParseKey(word) === name);
    });
  }
});
