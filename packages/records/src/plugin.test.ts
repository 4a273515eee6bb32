import { type Answer, type Plugin, toKey } from '@portolan/plugin';
import {
  askPlugin,
  BLOCK,
  describeAnswer,
  makeAnswer,
  makeContext,
  makeCursor,
  makeQuery,
  makeUse,
} from '@portolan/testing/uses.ts';
import { expect, it } from 'vitest';
import records from './plugin.ts';

const block = { ...BLOCK, zones: [toKey('example.org.'), toKey('example.net.')] };

function make(zones: readonly string[], ...lines: readonly string[]): Plugin {
  const cursor = makeCursor(makeUse(['records', ...zones].join(' '), ...lines));
  return records.create(records.read(cursor, block), makeContext());
}

const PASSED: Answer = makeAnswer(0);
const A = 1;
const CNAME = 5;
const AAAA = 28;

const ask = (plugin: Plugin, name: string, type: number) => askPlugin(plugin, makeQuery(name, type), PASSED);
const describe = async (plugin: Plugin, name: string, type: number) =>
  describeAnswer(await ask(plugin, name, type));

it('has the zones of the block unless it names some', async () => {
  const plugin = make([], 'www 60 A 192.0.2.1');
  for (const zone of ['org', 'net'])
    expect(await describe(plugin, `WWW.example.${zone}.`, A)).toEqual([
      'records',
      `WWW.example.${zone}. 60 IN A 192.0.2.1`,
    ]);
  expect([...(make(['A.test']).handler?.questions.matches() ?? [])]).toEqual([
    { name: { kind: 'suffix', name: 'a.test.' }, types: 'all' },
  ]);
  expect(await ask(make(['a.test']), 'example.org.', A)).toBe(PASSED);
});

it('answers in the longest zone', async () => {
  const plugin = make(['test', 'b.test'], '@ 60 SOA ns host 1 2 3 4 5', 'www A 192.0.2.1');
  const soa = 'b.test. 60 IN SOA ns.b.test. host.b.test. 1 2 3 4 5';
  expect(await describe(plugin, 'x.b.test.', A)).toEqual(['nxdomain', soa]);
  expect(await describe(plugin, 'www.b.test.', AAAA)).toEqual(['nodata', soa]);
});

it('follows aliases within the zone, and ends where they form a loop', async () => {
  const plugin = make(
    ['test'],
    'a 60 CNAME b.test.',
    'b 60 CNAME c.test.',
    'c 60 A 192.0.2.1',
    'x 60 CNAME y.test.',
    'y 60 CNAME x.test.',
  );
  const alias = (from: string, to: string) => `${from}.test. 60 IN CNAME ${to}.test.`;
  expect(await describe(plugin, 'a.test.', A)).toEqual([
    'records',
    alias('a', 'b'),
    alias('b', 'c'),
    'c.test. 60 IN A 192.0.2.1',
  ]);
  expect(await describe(plugin, 'a.test.', CNAME)).toEqual(['records', alias('a', 'b')]);
  expect(await describe(plugin, 'a.test.', AAAA)).toEqual(['records', alias('a', 'b'), alias('b', 'c')]);
  expect(await describe(plugin, 'x.test.', A)).toEqual(['records', alias('x', 'y'), alias('y', 'x')]);
});

it('publishes what has records, each name in its longest zone', async () => {
  const context = makeContext();
  const cursor = makeCursor(
    makeUse(
      'records test b.test',
      '@ 60 SOA ns host 1 2 3 4 5',
      'a 60 A 192.0.2.1',
      'c 60 CNAME a',
      'a.b A 192.0.2.2',
    ),
  );
  const plugin = records.create(records.read(cursor, block), context);
  expect(context.published).toEqual([]);
  await plugin.start?.();
  expect(plugin.handler?.publishes?.zones).toEqual(new Set(['test.', 'b.test.']));
  const published = context.published.map(({ name, type, records: own }) => `${name} ${type} ${own.length}`);
  // In test., the name a.b.test. is one of the zone b.test.
  expect(published.toSorted()).toEqual(
    [
      'test. 6 1',
      'a.test. 1 1',
      'c.test. 5 1',
      'c.test. 1 2',
      'c.test. 28 1',
      'b.test. 6 1',
      'a.b.test. 1 1',
      'c.b.test. 5 1',
      'c.b.test. 1 2',
      'c.b.test. 28 1',
      'a.b.b.test. 1 1',
    ].toSorted(),
  );
  for (const { name, type, records: own } of context.published)
    expect(await ask(plugin, name, type)).toMatchObject({ kind: 'records', records: own });
});

it('refuses malformed records, and a second use', () => {
  expect(() => make(['test'], 'www')).toThrow('not a record: www');
  const twice = makeCursor(makeUse('records'), makeUse('records'));
  expect(() => records.read(twice, block)).toThrow('only be used once per Server Block');
});
