import { parseName, toKey } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { CLASS, type NameKey, TYPE } from '@portolan/dns/types.ts';
import { describe, expect, it } from 'vitest';
import { lookUp, type ZoneAnswer } from './lookup.ts';
import { COMPLETE, type ZoneNode } from './node.ts';
import { type RecordSet, recordSet } from './record-set.ts';
import type { Zone } from './zone.ts';

const apex = toKey(parseName('example.'));
const zone: Zone = {
  apex,
  soa: {
    kind: 'SOA',
    primary: parseName('ns.example.'),
    mailbox: parseName('hostmaster.example.'),
    serial: 1,
    refresh: 2,
    retry: 3,
    expire: 4,
    minimum: 5,
  },
  negativeTtl: 5,
  authoritativeNxdomain: true,
};

const target = parseName('host1.example.');
const services: RecordSet = {
  ...recordSet(TYPE.SRV, 3600, [{ kind: 'SRV', priority: 0, weight: 0, port: 22, target }]),
  additional: 'elsewhere',
};
const nodes = new Map<NameKey, ZoneNode>(
  [
    nodeAt('host1.example.', [recordSet(TYPE.A, 3600, [{ kind: 'A', address: '192.0.2.1' }])]),
    nodeAt('_tcp.host1.example.', []),
    nodeAt('_ssh._tcp.host1.example.', [services]),
    nodeAt('alias.example.', [
      recordSet(TYPE.CNAME, 3600, [{ kind: 'CNAME', target: parseName('HOST1.example.') }]),
    ]),
  ].map((node) => [node.name, node]),
);

function nodeAt(name: string, sets: readonly RecordSet[]): ZoneNode {
  return { name: toKey(parseName(name)), sets, alias: undefined, below: COMPLETE, outcome: 0 };
}

function ask(name: string, type: number): ZoneAnswer {
  return lookUp({ find: (key) => nodes.get(key) }, zone, { name: parseName(name), type, class: CLASS.IN });
}

function lines(answer: ZoneAnswer): readonly string[] {
  if (answer.kind === 'records') return [...answer.records, ...answer.additionals].map(presentRecord);
  return answer.kind === 'alias' ? answer.records.map(presentRecord) : [presentRecord(answer.soa)];
}

describe('RFC 1034 section 4.3.2', () => {
  it('answers with the capitals of the question', () =>
    expect(lines(ask('HOST1.Example.', TYPE.A))).toEqual(['HOST1.Example. 3600 IN A 192.0.2.1']));

  it.each([
    ['_tcp.host1.example.', TYPE.A, 'nodata'],
    ['_telnet._tcp.host1.example.', TYPE.SRV, 'nxdomain'],
  ])('says of %s type %i: %s', (name, type, kind) => expect(ask(name, type).kind).toBe(kind));

  it('goes on with the target of a CNAME for every other type', () => {
    const answer = ask('alias.example.', TYPE.AAAA);
    expect(answer).toMatchObject({ kind: 'alias', target: 'HOST1.example.', unanswered: 'alias' });
    expect(lines(answer)).toEqual(['alias.example. 3600 IN CNAME HOST1.example.']);
  });

  it('answers with the CNAME itself when asked for it', () =>
    expect(ask('alias.example.', TYPE.CNAME)).toMatchObject({ kind: 'records' }));

  it('denies with the SOA record, at its negative TTL', () =>
    expect(lines(ask('host1.example.', TYPE.AAAA))).toEqual([
      'example. 5 IN SOA ns.example. hostmaster.example. 1 2 3 4 5',
    ]));

  it('gives the addresses of SRV targets along', () =>
    expect(lines(ask('_ssh._tcp.host1.example.', TYPE.SRV))).toContain('host1.example. 3600 IN A 192.0.2.1'));
});
