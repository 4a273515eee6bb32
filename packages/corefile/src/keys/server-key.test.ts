import { describe, expect, it } from 'vitest';
import { CorefileFindings } from '../syntax/findings.ts';
import { readTokens } from '../syntax/lexer.ts';
import { readServerKeys } from './server-key.ts';

function read(text: string) {
  const findings = new CorefileFindings();
  const block = { keys: readTokens(text, 'Corefile'), directives: new Map() };
  const keys = readServerKeys(block, 53, findings);
  return {
    keys: keys.map(({ scheme, shown, port }) => `${scheme}://${shown}:${port}`),
    problems: findings.problems.map(({ message }) => message),
    warnings: findings.warnings.map(({ text }) => text),
  };
}

describe('readServerKeys', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['A.Example', ['dns://a.example.:53']],
    ['a.example.:5353', ['dns://a.example.:5353']],
    [
      'tls://a quic://a grpc://a https://a https3://a',
      ['tls://a.:853', 'quic://a.:853', 'grpc://a.:443', 'https://a.:443', 'https3://a.:443'],
    ],
    ['a.example:1:2', ['dns://a.example:1.:2']],
    ['10.0.0.5/24', ['dns://0.0.10.in-addr.arpa.:53']],
    ['10.0.0.0/23', ['dns://0.0.10.in-addr.arpa.:53', 'dns://1.0.10.in-addr.arpa.:53']],
    ['10.1.2.3/15:99', ['dns://0.10.in-addr.arpa.:99', 'dns://1.10.in-addr.arpa.:99']],
    ['0.0.0.0/0', ['dns://in-addr.arpa.:53']],
    ['1.2.3.4/32', ['dns://4.3.2.1.in-addr.arpa.:53']],
    ['2001:db8::/31', ['dns://8.b.d.0.1.0.0.2.ip6.arpa.:53', 'dns://9.b.d.0.1.0.0.2.ip6.arpa.:53']],
    ['2001:db8::/32', ['dns://8.b.d.0.1.0.0.2.ip6.arpa.:53']],
    ['foo://a.example', ['dns://foo://a.example.:53']],
    ['a\\.b.example', ['dns://a\\.b.example.:53']],
    ['ä.example', ['dns://ä.example.:53']],
  ];
  for (const [text, expected] of cases)
    it(`reads ${text}`, () => {
      const { keys, problems } = read(text);
      expect(problems).toEqual([]);
      expect(keys).toEqual(expected);
    });

  it('splits a /9 into 128 zones and an IPv6 /33 into 8', () => {
    expect(read('10.128.0.0/9').keys).toHaveLength(128);
    expect(read('10.128.0.0/9').keys[127]).toBe('dns://255.10.in-addr.arpa.:53');
    expect(read('2001:db8::/33').keys).toHaveLength(8);
  });

  it('refuses in the words of CoreDNS what is no name', () => {
    expect(
      read(`a..example a: dns:// ::/0 ${'a'.repeat(64)} ${`${'a'.repeat(60)}.`.repeat(5)}`).problems,
    ).toEqual([
      'error inspecting server blocks: zone is not a valid domain name: a..example',
      'error inspecting server blocks: expecting data after last colon: "a:"',
      'error inspecting server blocks: expecting data after last colon: ""',
      'error inspecting server blocks: invalid CIDR ::/0',
      `error inspecting server blocks: zone is not a valid domain name: ${'a'.repeat(64)}`,
      'error inspecting server blocks: specified zone is too long: 305 > 255',
    ]);
  });

  it('warns of names that were meant otherwise', () => {
    expect(
      read('10.1.2.3 http://a a:http 10.0.0.0/33 _x.a "a b" 2001:db8::1 in-addr.arpa .').warnings,
    ).toEqual([
      'Domain "10.1.2.3." does not follow RFC1035 preferred syntax: an address is an ordinary name here. For its reverse zone write 10.1.2.3/32.',
      'Domain "http://a." does not follow RFC1035 preferred syntax: the scheme is not known and taken as part of the name. Known are dns, tls, quic, grpc, https and https3.',
      'Domain "a:http." does not follow RFC1035 preferred syntax: what stands behind the colon is no number of a port.',
      'Domain "10.0.0.0/33." does not follow RFC1035 preferred syntax: it is no range of addresses. Write one as 10.0.0.0/8.',
      'Domain "_x.a." does not follow RFC1035 preferred syntax.',
      'Domain "a b." does not follow RFC1035 preferred syntax: a variable is not split into words. Use one variable for each zone.',
      'Domain "2001:db8:." does not follow RFC1035 preferred syntax: an address is an ordinary name here. For its reverse zone write 2001:db8::1/128.',
    ]);
  });
});
