/** Replies of CoreDNS 1.14.2 and Portolan over the same API server, and the row of the deviations that each pair shows. */

import { parseName } from '@portolan/dns/name.ts';
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import { expect, it } from 'vitest';
import { textOfQuestion } from './asked-question.ts';
import type { DescribedReply } from './described-reply.ts';
import { differingParts } from './judge.ts';
import { findDeviation } from './known-deviations.ts';

type Said = Partial<Omit<DescribedReply, 'question'>>;

const SOA = (zone: string, ttl = 30, domain = zone) =>
  `${zone} ${ttl} IN SOA ns.dns.${domain} hostmaster.${domain} 1 7200 1800 86400 30`;

function findDeviationName(
  name: string,
  type: number,
  one: Said,
  other: Said,
  dnsClass: number = CLASS.IN,
): string | undefined {
  const empty = {
    rcode: 'NOERROR',
    flags: ['aa', 'rd'],
    question: '',
    answer: [],
    authority: [],
    additional: [],
  };
  const replies = { one: { ...empty, ...one }, other: { ...empty, ...other } };
  const parts = differingParts(replies.one, replies.other, { ttl: 1, hasStars: false });
  const question = { name: parseName(name), type, class: dnsClass };
  return findDeviation({ question, ...replies, parts })?.name;
}

const SERVICE = '_http._tcp.cart.shop.svc.cluster.local.';
const target = (host: string, domain = 'cluster.local.') =>
  `${SERVICE} 30 IN SRV 0 50 80 ${host}.cart.shop.svc.${domain}`;
const address = (host: string) => `${host}.cart.shop.svc.cluster.local. 30 IN A 10.0.0.1`;

it('knows names in records that take the capitals of the question', () => {
  expect(
    findDeviationName(
      SERVICE,
      TYPE.SRV,
      { answer: [target('a', 'ClUsTer.local.')] },
      { answer: [target('a')] },
    ),
  ).toBe('names-lower-case');
  // A denial of an upstream server, whose TTL counts down on both sides.
  const denied = (soa: string): Said => ({ flags: ['aa', 'ra', 'rd'], authority: [soa] });
  expect(
    findDeviationName(
      'h.example.com.',
      TYPE.AAAA,
      denied(SOA('example.com.', 20, 'eXample.com.')),
      denied(SOA('example.com.')),
    ),
  ).toBe('names-lower-case');
  expect(
    findDeviationName(
      SERVICE,
      TYPE.SRV,
      { answer: [target('a', 'Other.local.')] },
      { answer: [target('a')] },
    ),
  ).toBeUndefined();
  expect(
    findDeviationName(SERVICE, TYPE.SRV, { answer: [target('A')] }, { answer: [target('a'), target('b')] }),
  ).toBeUndefined();
});

it('knows additional addresses that do not fit', () => {
  const answer = [target('a'), target('b')];
  const cut = (...additional: string[]): Said => ({ flags: ['aa', 'rd', 'tc'], answer, additional });
  expect(findDeviationName(SERVICE, TYPE.SRV, cut(), { answer })).toBe('additional-left-out');
  expect(
    findDeviationName(SERVICE, TYPE.SRV, cut(address('a')), { answer, additional: [address('b')] }),
  ).toBe('additional-left-out');
  const capitals = [target('a', 'CLUSTER.local.'), target('b', 'CLUSTER.local.')];
  expect(findDeviationName(SERVICE, TYPE.SRV, { ...cut(), answer: capitals }, { answer })).toBe(
    'additional-left-out',
  );
  expect(findDeviationName(SERVICE, TYPE.SRV, cut(), { answer: [target('a')] })).toBeUndefined();
  expect(findDeviationName(SERVICE, TYPE.SRV, { answer }, { ...cut() })).toBeUndefined();
});

it('knows the name of the name server, and a question for SOA that is passed on', () => {
  const authority = [SOA('cluster.local.')];
  for (const type of [TYPE.TXT, TYPE.CNAME])
    expect(
      findDeviationName('ns.dns.cluster.local.', type, { rcode: 'NXDOMAIN', authority }, { authority }),
    ).toBe('name-exists');
  expect(
    findDeviationName(
      '1.0.0.127.in-addr.arpa.',
      TYPE.SOA,
      { authority: [SOA('in-addr.arpa.')] },
      { flags: ['aa', 'ra', 'rd'], authority: [SOA('127.in-addr.arpa.')] },
    ),
  ).toBe('soa-passed-on');
});

it('knows answers of class IN to questions of other classes', () => {
  const given: Said = { flags: ['aa', 'ra', 'rd'], answer: ['h.example.com. 20 IN A 192.0.2.1'] };
  const refused: Said = { rcode: 'REFUSED', flags: ['ra', 'rd'] };
  expect(findDeviationName('h.example.com.', TYPE.A, given, refused, CLASS.CH)).toBe('class-of-its-own');
  expect(findDeviationName('h.example.com.', TYPE.A, given, refused)).toBeUndefined();
  expect(findDeviationName('h.example.com.', TYPE.A, refused, given, CLASS.CH)).toBeUndefined();
});

it('says the class of a question that is not of IN', () => {
  const name = parseName('h.example.com.');
  expect(textOfQuestion({ name, type: TYPE.A, class: CLASS.IN })).toBe('h.example.com. A');
  expect(textOfQuestion({ name, type: TYPE.A, class: CLASS.CH })).toBe('h.example.com. CH A');
});
