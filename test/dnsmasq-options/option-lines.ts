/**
 * Options with values of all kinds, right and wrong, for the comparison with the real dnsmasq.
 *
 * It leaves out the known differences. Portolan refuses values that dnsmasq misreads: numbers that it wraps around, host names
 * that it would take for short forms of addresses, domains of `rebind-domain-ok` that are not names, control characters that it
 * takes for quoted ones, and what is not a table and a set of nftables. And Portolan handles input that dnsmasq handles wrongly: spaces
 * before the commas of `cname` and around the slashes of domains, invalid hexadecimal of `dns-rr`.
 */
import type { Option } from '@portolan/frontends/dnsmasq/settings/option.ts';
import { allOptions, ownOptions } from '@portolan/frontends/dnsmasq/settings/option-table.ts';
import fc from 'fast-check';

export const appliedOptions: readonly Option[] = allOptions.filter(
  ({ name, standing }) =>
    !ownOptions.has(name) && (standing.kind === 'works' || standing.kind === 'no-effect'),
);

const ADDRESSES = [
  '1.2.3.4',
  '10.0.0.0',
  '10.0.0.9',
  '255.255.255.0',
  '1.2.3.4.5',
  '::1',
  'fe80::1',
  '::ffff:1.2.3.4',
  '1::2::3',
  '12345::',
  '1:2:3:4:5:6:7::',
  ':',
  '2001:db8::/64',
  '2001:db8::/129',
  '10.0.0.0/24',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/x',
  '10.0.0.0/0',
  '1.2.3.4-1.2.3.9',
  '1.2.3.9-1.2.3.4',
  '192.168.0.10-10.0.0.40',
];
const SERVERS = [
  '#',
  '1.2.3.4#53',
  '1.2.3.4#',
  '1.2.3.4#x',
  '1.2.3.4#65536',
  '1.2.3.4@lo',
  '1.2.3.4@1.1.1.1',
  '::1@1.1.1.1',
  '1.2.3.4@',
  '1.2.3.4@lo@1.1.1.1',
  '1.2.3.4@lo@lo',
  '1.2.3.4@1.1.1.1#7',
  '1.2.3.4@1.1.1.1#x',
  'fe80::1%lo',
  '1.2.3.4%lo',
  '::1#53@::1',
  '',
];
const NAMES = [
  'a',
  'a.b',
  'A.B',
  'x.y.',
  '.',
  '..',
  '.a',
  'a..b',
  'x y',
  ' ',
  '*',
  '*.a',
  '-a',
  'a-',
  'A-',
  '-A',
  'aa--b',
  'AA--b',
  '_s._t',
  'A_b',
  'é.de',
  'É',
  'é_x',
  'é x',
  'a/b',
  'A/b',
  'a@b',
  "it's",
  'xn--a',
  'xn--A',
  'a~',
  'a;b',
  'Xn--mnchen-3ya.de',
  'a'.repeat(63),
  'a'.repeat(64),
  'é'.repeat(40),
  `${'a.'.repeat(127)}a`,
  '\x7f',
  'a\tb',
];
const WORDS = [
  'local',
  'net',
  'host',
  'extra',
  'daemon',
  'LOCAL3',
  '/x',
  '-',
  'TXT',
  'txt',
  'any',
  'NSAP',
  'TYPE65',
  'issue',
];
const NUMBERS = ['0', '1', '49', '50', '255', '3601', '65535', '007', '-1', '1x', '5000001', ''];

const word = fc.constantFrom(...ADDRESSES, ...SERVERS, ...NAMES, ...WORDS, ...NUMBERS);
const listed = fc
  .tuple(fc.array(word, { minLength: 1, maxLength: 7 }), fc.constantFrom(',', ',', ', ', ' ,', '/'))
  .map(([words, separator]) => words.join(separator));
const slashed = fc
  .tuple(
    fc.array(fc.constantFrom(...NAMES, '#', ''), { maxLength: 3 }),
    fc.constantFrom(...SERVERS, ...ADDRESSES),
  )
  .map(([domains, last]) => `/${[...domains, last].join('/')}`);

export const optionValue: fc.Arbitrary<string> = fc.oneof(word, listed, slashed);

/** Whether both are known to see the option differently, for one of the reasons above. */
export function isKnownDifference({ name }: Option, value: string): boolean {
  const numbers = value.match(/\d{4,}/g) ?? [];
  const wraps = numbers.some((number) => Number(number) > 65_535);
  switch (name) {
    case 'server':
    case 'local':
      return hasSpacedDomains(value) || !isPlainServer(value.slice(value.lastIndexOf('/') + 1));
    case 'address':
      return hasSpacedDomains(value);
    case 'rev-server':
      return !isPlainServer(value.slice(value.indexOf(',') + 1));
    case 'rebind-domain-ok':
    case 'dns-rr':
    case 'nftset':
      return true;
    case 'cname':
      return / ,/.test(value);
    case 'caa-record':
      return numbers.length > 0;
    case 'edns-packet-max':
    case 'port-limit':
    case 'cache-rr':
    case 'filter-rr':
      return wraps;
    case 'domain':
      return value === '#';
    default:
      return false;
  }
}

function hasSpacedDomains(value: string): boolean {
  return /\s\/|\/\s/.test(value);
}

/** dnsmasq looks up anything else as the name of a host, and so depends on the network. */
function isPlainServer(text: string): boolean {
  const isRange = text.includes('-');
  return SERVERS.includes(text) || (ADDRESSES.includes(text.trim()) && !isRange);
}
