import { presentRecord } from '@portolan/dns/present.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPlan, readProblems } from './testing/read-plan.ts';

function readRecords(lines: string): readonly string[] {
  return readPlan(lines, { hostName: 'Box' }).local.records.map(presentRecord);
}

describe('records', () => {
  it.each([
    ['txt-record=a,b, c ,d', 'a. 0 IN TXT "b" " c " "d"'],
    ['txt-record=a', 'a. 0 IN TXT ""'],
    ['txt-record=a,"b,c"', 'a. 0 IN TXT "b,c"'],
    ['ptr-record=a,B', 'a. 0 IN PTR b.'],
    ['ptr-record=a', 'a. 0 IN PTR .'],
    ['caa-record=a,128,issue,"ca.example, x"', 'a. 0 IN CAA 128 issue "ca.example, x"'],
    ['caa-record=a,0,not-alphanumeric,x', 'a. 0 IN CAA \\# 19 00106E6F742D616C7068616E756D6572696378'],
    ['dns-rr=a,65280,0102', 'a. 0 IN TYPE65280 \\# 2 0102'],
    ['dns-rr=a,65280', 'a. 0 IN TYPE65280 \\# 0'],
    ['srv-host=_a._b.c,t,5060,1,2', '_a._b.c. 0 IN SRV 1 2 5060 t.'],
    ['srv-host=_a._b', '_a._b. 0 IN SRV 0 0 1 .'],
    ['domain=d\nsrv-host=_a._b', '_a._b.d. 0 IN SRV 0 0 1 .'],
    ['domain=d\nsrv-host=_a', '_a. 0 IN SRV 0 0 1 .'],
    ['mx-host=a,b,5', 'a. 0 IN MX 5 b.'],
    ['mx-host=a', 'a. 0 IN MX 1 box.'],
    ['naptr-record=a,1,2,u,s,r', 'a. 0 IN NAPTR 1 2 "u" "s" "r" .'],
    ['local-ttl=9\nptr-record=a,b', 'a. 9 IN PTR b.'],
  ])('%s', (lines, record) => {
    expect(readRecords(lines)).toEqual([record]);
  });

  it.each([
    'txt-record=-A,x',
    'ptr-record=a,-A',
    'caa-record=a,0,issue',
    'caa-record=a,256,issue,b',
    'dns-rr=a',
    'dns-rr=a,65536',
    'dns-rr=a,1,xyz',
    'srv-host=a,b,65536',
    'srv-host=a,-A',
    'mx-host=a,b,c',
    'mx-host=a,-A',
    'mx-target=-A',
    'naptr-record=a,1,2,u,s',
    'naptr-record=a,x,2,u,s,r',
    `naptr-record=a,1,2,u,s,${'r'.repeat(256)}`,
  ])('%s is refused', (line) => {
    expect(readProblems(line)).toHaveLength(1);
  });
});

describe('MX records', () => {
  it('have the common target', () => {
    expect(readRecords('mx-host=a\nmx-host=box,x\nmx-target=Common')).toEqual([
      'a. 0 IN MX 1 common.',
      'box. 0 IN MX 1 x.',
    ]);
  });

  it('stand for the machine itself where there is a common target', () => {
    expect(readRecords('mx-target=t')).toEqual(['box. 0 IN MX 0 t.']);
    expect(readRecords('localmx')).toEqual(['box. 0 IN MX 0 box.']);
    expect(readRecords('selfmx')).toEqual([]);
  });

  it.each([
    ['selfmx', { kind: 'self' }],
    ['localmx', { kind: 'target', target: 'machine.' }],
    ['localmx\nmx-target=t', { kind: 'target', target: 't.' }],
    ['localmx\nselfmx', { kind: 'self' }],
    ['mx-target=t', { kind: 'none' }],
  ])('of hosts, with %j', (lines, mxOfHosts) => {
    expect(readPlan(lines).local.mxOfHosts).toEqual(mxOfHosts);
  });
});

/** The data of a record given in hexadecimal; undefined if it is refused. */
function readUnknownData(text: string): Uint8Array | undefined {
  const lines = `dns-rr=a,65280,"${text}"`;
  if (readProblems(lines).length > 0) return undefined;
  const [record] = readPlan(lines).local.records;
  return record?.data.kind === 'unknown' ? record.data.bytes : undefined;
}

describe('hexadecimal', () => {
  it.each([
    ['01:23-45 67', [1, 0x23, 0x45, 0x67]],
    ['0123', [1, 0x23]],
    ['012', [1, 2]],
    ['1:2', [1, 2]],
    ['', []],
    ['::', []],
    ['0x', undefined],
    ['01:*', undefined],
  ])('%j', (text, octets) => {
    expect(readUnknownData(text)).toEqual(octets === undefined ? undefined : Uint8Array.from(octets));
  });

  it('gives back any octets', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (octets) => {
        expect(readUnknownData(Buffer.from(octets).toString('hex'))).toEqual(octets);
      }),
    );
  });
});

describe('host-record', () => {
  it.each([
    ['nas,10.0.0.20', { names: ['nas.'], ipv4: '10.0.0.20', ipv6: undefined, ttl: 7 }],
    [
      'Nas,nas.lan,10.0.0.20,2001:DB8::20,60',
      { names: ['nas.', 'nas.lan.'], ipv4: '10.0.0.20', ipv6: '2001:db8::20', ttl: 60 },
    ],
    ['nas,10.0.0.20,10.0.0.21', { names: ['nas.'], ipv4: '10.0.0.21', ipv6: undefined, ttl: 7 }],
    ['nas,"10.0.0.20"', { names: ['nas.', '10.0.0.20.'], ipv4: undefined, ipv6: undefined, ttl: 7 }],
  ])('%s', (value, record) => {
    expect(readPlan(`local-ttl=7\nhost-record=${value}`).local.hostRecords).toEqual([record]);
  });

  it.each(['nas', '', 'nas,-A', 'nas,10.0.0.1,99999999999'])('%s is refused', (value) => {
    expect(readProblems(`host-record=${value}`)).toHaveLength(1);
  });
});

describe('cname', () => {
  it.each([
    ['a,b', [{ alias: 'a.', target: 'b.', ttl: 7 }]],
    ['a,b,60', [{ alias: 'a.', target: 'b.', ttl: 60 }]],
    ['a,60', [{ alias: 'a.', target: '60.', ttl: 7 }]],
    [
      'a,B.example,c,60',
      [
        { alias: 'a.', target: 'c.', ttl: 60 },
        { alias: 'b.example.', target: 'c.', ttl: 60 },
      ],
    ],
  ])('%s', (value, cnames) => {
    expect(readPlan(`local-ttl=7\ncname=${value}`).local.cnames).toEqual(cnames);
  });

  it('has one target for each alias', () => {
    expect(readProblems('cname=a,b\ncname=A,c')).toEqual([
      'standard input:2: cname: the alias of two CNAME records: "a.". Leave one out: a name has one canonical name.',
    ]);
  });
});
