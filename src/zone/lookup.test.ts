import { describe, expect, it } from 'vitest';
import { parseName, toKey } from '../wire/name.ts';
import { presentRecord } from '../wire/present.ts';
import { CLASS, type RecordData, TYPE } from '../wire/types.ts';
import { lookUp, type ZoneAnswer } from './lookup.ts';
import { recordSet } from './record-set.ts';
import { ZoneTree } from './tree.ts';
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

const a = (address: string): RecordData => ({ kind: 'A', address });
const to = (kind: 'CNAME' | 'NS', target: string): RecordData => ({ kind, target: parseName(target) });
const text = (string: string): RecordData => ({ kind: 'TXT', strings: [Buffer.from(string)] });

/** The zone of RFC 4592 section 2.2.1, and a CNAME. */
function makeTree(): ZoneTree {
  const tree = new ZoneTree(apex);
  const add = (name: string, type: number, ...data: RecordData[]) =>
    tree.add(parseName(name), recordSet(type, 3600, data));
  add('*.example.', TYPE.TXT, text('this is a wildcard'));
  add('*.example.', TYPE.MX, { kind: 'MX', preference: 10, exchange: parseName('host1.example.') });
  add('sub.*.example.', TYPE.TXT, text('this is not a wildcard'));
  add('host1.example.', TYPE.A, a('192.0.2.1'));
  add('_ssh._tcp.host1.example.', TYPE.SRV, {
    kind: 'SRV',
    priority: 0,
    weight: 0,
    port: 22,
    target: parseName('host1.example.'),
  });
  add('subdel.example.', TYPE.NS, to('NS', 'ns.example.com.'), to('NS', 'ns.subdel.example.'));
  add('ns.subdel.example.', TYPE.A, a('192.0.2.53'));
  add('alias.example.', TYPE.CNAME, to('CNAME', 'HOST1.example.'));
  return tree;
}

const tree = makeTree();

function ask(name: string, type: number): ZoneAnswer {
  return lookUp(tree, zone, { name: parseName(name), type, class: CLASS.IN });
}

function lines(answer: ZoneAnswer): readonly string[] {
  if (answer.kind === 'records') return [...answer.records, ...answer.additionals].map(presentRecord);
  if (answer.kind === 'delegation') return [...answer.nameservers, ...answer.additionals].map(presentRecord);
  return answer.kind === 'alias' ? answer.records.map(presentRecord) : [presentRecord(answer.soa)];
}

describe('RFC 4592 section 2.2.1', () => {
  it('synthesises from the wildcard for names that do not exist, and carries addresses along', () => {
    const answer = ask('host3.example.', TYPE.MX);
    expect(lines(answer)).toEqual([
      'host3.example. 3600 IN MX 10 host1.example.',
      'host1.example. 3600 IN A 192.0.2.1',
    ]);
  });

  it('says NODATA for a type that the wildcard does not have', () =>
    expect(ask('host3.example.', TYPE.A).kind).toBe('nodata'));

  it('synthesises for names of several labels below the closest encloser', () =>
    expect(lines(ask('foo.bar.example.', TYPE.TXT))[0]).toMatch(/^foo\.bar\.example\. /));

  it.each([
    ['host1.example.', TYPE.MX, 'nodata'],
    ['sub.*.example.', TYPE.MX, 'nodata'],
    ['_telnet._tcp.host1.example.', TYPE.SRV, 'nxdomain'],
    ['ghost.*.example.', TYPE.MX, 'nxdomain'],
    ['_tcp.host1.example.', TYPE.A, 'nodata'],
  ])('does not synthesise for %s type %i', (name, type, kind) => expect(ask(name, type).kind).toBe(kind));

  it('refers to the name servers of a delegation, for it and for names below', () => {
    for (const name of ['subdel.example.', 'host.subdel.example.', 'a.b.subdel.example.']) {
      const answer = ask(name, TYPE.A);
      expect(answer.kind).toBe('delegation');
      expect(lines(answer)).toContain('ns.subdel.example. 3600 IN A 192.0.2.53');
    }
  });
});

describe('RFC 1034 section 4.3.2', () => {
  it('answers with the capitals of the question', () =>
    expect(lines(ask('HOST1.Example.', TYPE.A))).toEqual(['HOST1.Example. 3600 IN A 192.0.2.1']));

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
