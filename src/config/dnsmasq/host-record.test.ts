import { describe, expect, it } from 'vitest';
import { planOf, problemsOf } from '../../../test/dnsmasq-options/plan-of.ts';

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
    expect(planOf(`local-ttl=7\nhost-record=${value}`).local.hostRecords).toEqual([record]);
  });

  it.each(['nas', '', 'nas,-A', 'nas,10.0.0.1,99999999999'])('%s is refused', (value) => {
    expect(problemsOf(`host-record=${value}`)).toHaveLength(1);
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
    expect(planOf(`local-ttl=7\ncname=${value}`).local.cnames).toEqual(cnames);
  });

  it('has one target for each alias', () => {
    expect(problemsOf('cname=a,b\ncname=A,c')).toEqual([
      'standard input:2: cname: the alias of two CNAME records: "a.". Leave one out: a name has one canonical name.',
    ]);
  });
});
