import { parseName, toKey } from '@portolan/dns/name.ts';
import type { ResourceRecord } from '@portolan/dns/types.ts';
import { record } from '@portolan/kernel/chain/testing/queries.ts';
import { describe, expect, it } from 'vitest';
import { ZoneNames } from '../file/zone-names.ts';
import { readCatalog } from './catalog.ts';

const ORIGIN = toKey(parseName('cat.example.'));
const ns = record('cat.example.', { kind: 'NS', target: parseName('invalid.') });
const version = (text: string) =>
  record('version.cat.example.', { kind: 'TXT', strings: [Buffer.from(text)] });
const ptr = (labels: string, target: string): ResourceRecord =>
  record(`${labels}.zones.cat.example.`, { kind: 'PTR', target: parseName(target) });

const read = (...records: readonly ResourceRecord[]) => readCatalog(new ZoneNames(ORIGIN, records));

it('has the zones of its member nodes, with their labels and new owners', () => {
  const members = read(
    ns,
    version('2'),
    ptr('a1', 'One.test.'),
    ptr('b2', 'two.test.'),
    ptr('coo.b2', 'other.example.'),
    // Other properties, and names below them, are of no concern.
    ...[ptr('group.a1', 'x.'), ptr('x.coo.a1', 'y.'), ptr('coo.c3', 'z.')],
    record('zones.cat.example.', { kind: 'PTR', target: parseName('no.') }),
  );
  expect([...members.values()]).toEqual([
    { zone: 'one.test.', id: 'a1', newOwner: undefined },
    { zone: 'two.test.', id: 'b2', newOwner: 'other.example.' },
  ]);
});

describe('is refused', () => {
  it.each<[string, readonly ResourceRecord[]]>([
    ['has no NS record', [version('2')]],
    ['exactly one version', [ns]],
    ['exactly one version', [ns, version('2'), version('1')]],
    ['unsupported version "1"', [ns, version('1')]],
    ['exactly one PTR', [ns, version('2'), ptr('a', 'one.test.'), ptr('a', 'two.test.')]],
    ['exactly one PTR', [ns, version('2'), ptr('a', 'one.'), ptr('coo.a', 'c.'), ptr('coo.a', 'd.')]],
    ['listed by both a and b', [ns, version('2'), ptr('a', 'one.test.'), ptr('b', 'one.test.')]],
  ])('as it %s', (reason, records) => {
    expect(() => read(...records)).toThrow(reason);
  });
});
