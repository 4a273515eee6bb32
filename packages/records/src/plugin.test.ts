import type { Instance, Reply, Rr } from '@portolan/plugin';
import { expect, it } from 'vitest';
import records from './plugin.ts';

const word = (text: string) => ({ text, at: 'Corefile:1' });
const use = (zones: readonly string[], ...lines: readonly string[]) => ({
  ...{ name: word('records'), args: zones.map(word) },
  lines: lines.map((line) => line.split(' ').map(word)),
});
const block = {
  zones: ['example.org.', 'example.net.'],
  resolve: (path: string) => path,
  /** `NAME TYPE DATA` with numbers for types; data as it is. */
  readPattern: (text: string) => new RegExp(text),
  readRecord(text: string, origin: string): Rr {
    const [owner = '', type, data = ''] = text.split(' ');
    if (type === undefined) throw new Error(`not a record: ${text}`);
    const name = owner === '@' ? origin : `${owner}.${origin}`;
    return { name, type: Number(type), ttl: 60, data };
  },
};

function make(zones: readonly string[], ...lines: readonly string[]): Instance {
  // It uses nothing of its context.
  return records.create(
    records.parse([use(zones, ...lines)], block),
    {} as Parameters<typeof records.create>[1],
  );
}

const PASSED: Reply = { kind: 'opaque', rcode: 0, records: [] };

async function ask(instance: Instance, name: string, type: number): Promise<Reply> {
  const query = {
    ...{ name, type, zone: '.', signal: new AbortController().signal },
    client: { address: '', transport: 'udp' },
    with: () => query,
  };
  return await instance.handle(query, async () => PASSED);
}

it('has the zones of the block unless it names some', async () => {
  const instance = make([], 'www 1 192.0.2.1');
  for (const zone of ['org', 'net'])
    expect(await ask(instance, `WWW.example.${zone}.`, 1)).toEqual({
      kind: 'records',
      records: [{ name: `WWW.example.${zone}.`, type: 1, ttl: 60, data: '192.0.2.1' }],
      keep: 'until-changed',
    });
  expect(make(['A.test']).questions).toEqual({ kind: 'within', zones: ['a.test.'] });
  expect(await ask(make(['a.test']), 'example.org.', 1)).toBe(PASSED);
});

it('answers in the longest zone', async () => {
  const instance = make(['test', 'b.test'], '@ 6 soa', 'www 1 192.0.2.1');
  expect(await ask(instance, 'x.b.test.', 1)).toMatchObject({ exists: false, soa: { name: 'b.test.' } });
  expect(await ask(instance, 'www.b.test.', 28)).toMatchObject({ exists: true, soa: { name: 'b.test.' } });
});

it('follows aliases within the zone, and ends where they form a loop', async () => {
  const instance = make(
    ['test'],
    'a 5 b.test.',
    'b 5 c.test.',
    'c 1 192.0.2.1',
    'x 5 y.test.',
    'y 5 x.test.',
  );
  const dataOf = (reply: Reply) =>
    reply.kind === 'records' ? reply.records.map(({ data }) => data) : reply.kind;
  expect(dataOf(await ask(instance, 'a.test.', 1))).toEqual(['b.test.', 'c.test.', '192.0.2.1']);
  expect(dataOf(await ask(instance, 'a.test.', 5))).toEqual(['b.test.']);
  expect(dataOf(await ask(instance, 'a.test.', 28))).toEqual(['b.test.', 'c.test.']);
  expect(dataOf(await ask(instance, 'x.test.', 1))).toEqual(['y.test.', 'x.test.']);
});

it('refuses what is no record, and a second use', () => {
  expect(() => make(['test'], 'www')).toThrow('not a record: www');
  expect(() => records.parse([use([]), use([])], block)).toThrow('only be used once per Server Block');
});
