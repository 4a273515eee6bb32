import { encodeName, parseName, toKey } from '@portolan/dns/name.ts';
import { keyOfWire } from '@portolan/dns/name-wire.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { CLASS, type RecordData, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { ZoneId } from '@portolan/kernel/table/types.ts';
import { compileNode } from '@portolan/kernel/zone/compile.ts';
import { toRecords } from '@portolan/kernel/zone/record-set.ts';
import { describe, expect, it } from 'vitest';
import { LocalNames } from './local-names.ts';
import { hostsOnly, type LocalNamesPlan } from './local-plan.ts';
import { CountedNames } from './local-publication.ts';
import { makeHostNames } from './testing/make-host-names.ts';

const key = (text: string) => toKey(parseName(text));
const wire = (text: string) => encodeName(key(text));
const record = (name: string, data: RecordData): ResourceRecord => ({
  name: key(name),
  class: CLASS.IN,
  ttl: 7,
  data,
});
const cname = (alias: string, target: string) => ({ alias: key(alias), target: key(target), ttl: 3 });

const HOSTS: readonly (readonly [string, string])[] = [
  ['web', '10.0.0.1'],
  ['web.lan', '10.0.0.1'],
  ['deep.branch.lan', '10.0.0.2'],
  ['web', '2001:db8::1'],
  ['web', '10.0.0.1'],
];

function makeLocalNames(changes: Partial<LocalNamesPlan> = {}): LocalNames {
  return new LocalNames({ ...hostsOnly(5), ...changes }, makeHostNames(HOSTS), 9);
}

function told(names: LocalNames, name: string, type: number): readonly string[] {
  const answer = names.answer(key(name), type);
  return [...(answer?.records ?? []), ...(answer?.additionals ?? [])].map(presentRecord);
}

describe('local names', () => {
  it('have their addresses each once, and the first name of an address its PTR', () => {
    const names = makeLocalNames();
    expect(told(names, 'web', TYPE.A)).toEqual(['web. 5 IN A 10.0.0.1']);
    expect(told(names, 'web', TYPE.ANY)).toHaveLength(2);
    expect(told(names, '1.0.0.10.in-addr.arpa', TYPE.PTR)).toEqual(['1.0.0.10.in-addr.arpa. 5 IN PTR web.']);
    expect(names.answer(key('web'), TYPE.TXT)).toBeUndefined();
    expect(names.answer(key('nothing'), TYPE.A)).toBeUndefined();
  });

  it('exist, and so do the names above them', () => {
    const names = makeLocalNames({ cnames: [cname('alias.far.example', 'web')] });
    const known = ['web', 'branch.lan', 'lan', 'far.example'].map((name) => names.exists(key(name)));
    expect(known).toEqual([true, true, true, true]);
    const unknown = ['.', 'x.web', '0.0.10.in-addr.arpa'].map((name) => names.exists(key(name)));
    expect(unknown).toEqual([false, false, false]);
  });

  it('list their parents in steps, and know them before the last step too', () => {
    const many = Array.from({ length: 2000 }, (_, index) => [`n${index}.d${index}.lan`, '0.0.0.0'] as const);
    const names = new LocalNames(hostsOnly(5), makeHostNames(many), 9);
    const steps = names.listParents();
    expect(steps.next().done).toBe(false);
    const exist = () => ['d1999.lan', 'd2000.lan'].map((name) => names.exists(key(name)));
    expect(exist()).toEqual([true, false]);
    expect(steps.next().done, 'no work is done twice').toBe(true);
    expect(exist()).toEqual([true, false]);
  });

  it('may be aliases, which hide all else', () => {
    const cnames = [
      cname('one', 'two'),
      cname('two', 'web'),
      cname('dangling', 'nothing'),
      cname('web.lan', 'web'),
    ];
    const names = makeLocalNames({ cnames });
    expect(told(names, 'one', TYPE.A)).toEqual([
      'one. 3 IN CNAME two.',
      'two. 3 IN CNAME web.',
      'web. 5 IN A 10.0.0.1',
    ]);
    expect(told(names, 'one', TYPE.CNAME)).toEqual(['one. 3 IN CNAME two.']);
    expect(told(names, 'one', TYPE.TXT)).toEqual(['one. 3 IN CNAME two.', 'two. 3 IN CNAME web.']);
    expect(told(names, 'dangling', TYPE.A)).toEqual(['dangling. 3 IN CNAME nothing.']);
    expect(told(names, 'web.lan', TYPE.A)).toEqual(['web.lan. 3 IN CNAME web.', 'web. 5 IN A 10.0.0.1']);
  });

  it('end in a circle of aliases all the same', () => {
    const names = makeLocalNames({ cnames: [cname('one', 'two'), cname('two', 'one')] });
    expect(told(names, 'one', TYPE.A).length).toBeLessThan(12);
  });

  it('bring along the addresses of mail exchanges and services', () => {
    const records = [
      record('mx', { kind: 'MX', preference: 1, exchange: key('web') }),
      record('srv', { kind: 'SRV', priority: 0, weight: 0, port: 80, target: key('nothing') }),
    ];
    const names = makeLocalNames({ records });
    expect(told(names, 'mx', TYPE.MX)).toEqual([
      'mx. 7 IN MX 1 web.',
      'web. 5 IN A 10.0.0.1',
      'web. 5 IN AAAA 2001:db8::1',
    ]);
    expect(told(names, 'srv', TYPE.SRV)).toHaveLength(1);
  });

  it('let options go before hosts files where both speak of a name', () => {
    const reverse = '1.0.0.10.in-addr.arpa';
    const names = makeLocalNames({
      records: [
        record(reverse, { kind: 'PTR', target: key('other') }),
        record('raw', { kind: 'unknown', type: TYPE.A, bytes: Uint8Array.of(10, 7, 7, 7) }),
        record('short', { kind: 'unknown', type: TYPE.A, bytes: Uint8Array.of(10) }),
      ],
      mxOfHosts: { kind: 'self' },
    });
    expect(told(names, reverse, TYPE.PTR)).toEqual([`${reverse}. 7 IN PTR other.`]);
    expect(told(names, 'raw', TYPE.A)).toEqual(['raw. 7 IN A 10.7.7.7']);
    expect(told(names, 'short', TYPE.A)).toEqual([]);
    expect(told(names, 'web', TYPE.MX)).toEqual(['web. 5 IN MX 1 web.']);
    expect(told(names, 'raw', TYPE.MX)).toEqual([]);
  });

  it('are listed each once, those that only an option has too', () => {
    const records = [
      record('web', { kind: 'TXT', strings: [] }),
      record('text', { kind: 'TXT', strings: [] }),
    ];
    const names = makeLocalNames({ records, cnames: [cname('alias', 'web')] });
    const listed = Array.from(names.names(), keyOfWire);
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed).toHaveLength(3 + 3 + 2);
    expect(listed.every((name) => names.has(wire(name)))).toBe(true);
    expect(names.has(wire('nothing'))).toBe(false);
  });

  it('are open nodes for the table, whole answers of aliases among them', () => {
    const node = makeLocalNames({ cnames: [cname('one', 'web')] }).node(key('one'));
    expect(node).toMatchObject({ isOpen: true, below: { kind: 'ask', labels: 0 }, outcome: 9 });
    const lines = node.sets.map((set) => [
      ...(set.aliases ?? []).map(presentRecord),
      ...toRecords(set.aliases === undefined ? key('one') : key('web'), set).map(presentRecord),
    ]);
    expect(lines).toEqual([
      ['one. 3 IN CNAME web.'],
      ['one. 3 IN CNAME web.', 'web. 5 IN A 10.0.0.1'],
      ['one. 3 IN CNAME web.', 'web. 5 IN AAAA 2001:db8::1'],
    ]);
  });

  it('have nodes where an option has a say, and for more addresses than readers take', () => {
    const many = Array.from({ length: 17 }, (_, index) => ['many', `10.0.1.${index}`] as const);
    const names = new LocalNames(
      { ...hostsOnly(5), cnames: [cname('one', 'web'), cname('web.lan', 'web')] },
      makeHostNames([...HOSTS, ...many]),
      9,
    );
    const nodes = Array.from(names.nodes.names(), (name) => name && keyOfWire(name));
    expect(nodes.toSorted()).toEqual(['many.', 'one.', 'web.lan.']);
    expect(names.nodes.has(wire('web'))).toBe(false);
    const zone = 1 as ZoneId;
    expect(names.nodes.compile(wire('many'), zone)).toEqual(compileNode(names.node(key('many')), zone));
  });

  it('count as changed where their addresses, their TTLs or the names of their addresses differ', () => {
    const changes = (from: LocalNames, to: LocalNames) => {
      const changed = new CountedNames();
      for (const _ of to.countChanged(from, changed));
      return changed.first.toSorted();
    };
    const named = (lines: readonly (readonly [string, string])[], ttl = 5) =>
      new LocalNames(hostsOnly(ttl), makeHostNames(lines), 9);
    expect(changes(named(HOSTS), named(HOSTS))).toEqual([]);
    const others = named([
      ['web', '10.0.0.9'],
      ['other', '10.0.0.1'],
    ]);
    expect(changes(named([['web', '10.0.0.1']]), others)).toEqual([
      '1.0.0.10.in-addr.arpa.',
      '9.0.0.10.in-addr.arpa.',
      'other.',
      'web.',
    ]);
    expect(changes(others, named([]))).toEqual([
      '1.0.0.10.in-addr.arpa.',
      '9.0.0.10.in-addr.arpa.',
      'other.',
      'web.',
    ]);
  });
});
