import { formatUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { decodeConfigText } from '@portolan/kubernetes/config-map/config-texts.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeProblem } from '../values/problem.ts';
import { CONFIG_KEYS, readKubeDnsConfig } from './config-map.ts';

function toConfigTexts(values: Readonly<Record<string, string | Uint8Array>>) {
  return new Map(
    Object.entries(values).map(([key, value]) => [key, decodeConfigText(Buffer.from(value))] as const),
  );
}

function read(values: Readonly<Record<string, string | Uint8Array>>): unknown {
  const checked = readKubeDnsConfig(toConfigTexts(values));
  if (checked.kind === 'bad') return checked.problems.map(describeProblem);
  const { stubDomains, upstreams, federations } = checked.value;
  return {
    stubDomains: stubDomains.map(({ domain, servers }) => [domain, servers.map(formatUpstream)]),
    upstreams: upstreams.map(formatUpstream),
    federations: federations.map(({ name, domain }) => `${name}=${domain}`),
  };
}

const readStubServers = (server: string) => read({ stubDomains: JSON.stringify({ 'acme.local': [server] }) });
const readUpstreams = (server: string) => read({ upstreamNameservers: JSON.stringify([server]) });

describe("kube-dns's ConfigMap", () => {
  it.each([
    {},
    { stubDomains: 'null', upstreamNameservers: 'null', federations: '' },
    { stubDomains: '{}', upstreamNameservers: ' [] ', federations: ' \n' },
    { other: '{' },
  ])('may say nothing: %j', (values) => {
    expect(read(values)).toEqual({ stubDomains: [], upstreams: [], federations: [] });
  });

  it('names servers by domain and for all else, and federations', () => {
    expect(
      read({
        stubDomains:
          '{"acme.local": ["10.0.0.1", "10.0.0.2:5353", "dns.acme.svc.cluster.local"], "b.test": [], "c": null}',
        upstreamNameservers: '["8.8.8.8", "[2001:db8::1]:53", "8.8.4.4:5353"]',
        federations: 'one=example.com, two = sub.example.org ,one=example.net',
      }),
    ).toEqual({
      stubDomains: [
        ['acme.local.', ['10.0.0.1:53', '10.0.0.2:5353', 'dns.acme.svc.cluster.local:53']],
        ['b.test.', []],
        ['c.', []],
      ],
      upstreams: ['8.8.8.8:53', '[2001:db8::1]:53', '8.8.4.4:5353'],
      federations: ['one=example.net.', 'two=sub.example.org.'],
    });
  });

  it.each([
    ['10.0.0.1:', '10.0.0.1:53'],
    ['2001:DB8::1', '[2001:db8::1]:53'],
    ['[2001:db8::1]:5353', '[2001:db8::1]:5353'],
    ['010.0.0.1', '10.0.0.1:53'],
    ['a-b.c', 'a-b.c:53'],
  ])('takes %s for the server of a stub domain', (text, server) => {
    expect(readStubServers(text)).toMatchObject({ stubDomains: [['acme.local.', [server]]] });
  });

  it.each([
    '',
    'dns.example:53',
    'Dns.example',
    'dns.example.',
    'dns_1.example',
    '[2001:db8::1]',
    '-a',
    '10.0.0.1:65536',
    '10.0.0.1:dns',
    '10.0.0.1:0',
    '1:2:3',
    'tls://10.0.0.1',
    '10.0.0.1#53',
    'fe80::1%1',
  ])('takes %j for no server of a stub domain', (text) => {
    expect(readStubServers(text)).toEqual([expect.stringContaining('stubDomains: not a server')]);
  });

  it.each([
    ['2001:db8::1', '[2001:db8::1]:53'],
    ['[8.8.8.8]:53', '8.8.8.8:53'],
    ['8.8.8.8:053', '8.8.8.8:53'],
  ])('takes %s for an upstream server', (text, server) => {
    expect(readUpstreams(text)).toMatchObject({ upstreams: [server] });
  });

  it.each(['', 'dns.google', '8.8.8.8:', '8.8.8.8:0', '8.8.8.8:65536', '[2001:db8::1]', '08.8.8.8', '8.8.8'])(
    'takes %j for no upstream server',
    (text) => {
      expect(readUpstreams(text)).toEqual([expect.stringContaining('upstreamNameservers: not a server')]);
    },
  );

  it.each([
    [{ stubDomains: '{' }, /stubDomains: not JSON: "{"/],
    [{ stubDomains: '' }, /stubDomains: not JSON: ""/],
    [{ stubDomains: '[]' }, /stubDomains: not an object/],
    [{ stubDomains: '"a"' }, /stubDomains: not an object/],
    [{ stubDomains: '{"a..b": []}' }, /not a domain: "a..b"/],
    [{ stubDomains: '{".": []}' }, /not a domain/],
    [{ stubDomains: '{"Acme.local": []}' }, /not a domain: "Acme.local". Give .* in lower case/],
    [{ stubDomains: '{"acme.local.": []}' }, /not a domain/],
    [{ stubDomains: `{"${'a'.repeat(64)}": []}` }, /not a domain/],
    [{ stubDomains: '{"a": "10.0.0.1"}' }, /not a list/],
    [{ stubDomains: '{"a": [7]}' }, /not a server: "7"/],
    [{ stubDomains: '{"a": [null]}' }, /not a server: "null"/],
    [{ stubDomains: '{"a": [{"a": 1}]}' }, /not a server: "an object"/],
    [{ upstreamNameservers: `${'['.repeat(50_000)}${']'.repeat(50_000)}` }, /not a server: "a list"/],
    [{ upstreamNameservers: '"8.8.8.8"' }, /upstreamNameservers: not a list/],
    [{ upstreamNameservers: '["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]' }, /too many servers: "4"/],
    [{ federations: 'one' }, /federations: not a name and its domain: "one"/],
    [{ federations: 'one=a.example,' }, /not a name and its domain: ""/],
    [{ federations: 'One=a.example' }, /not the name of a federation/],
    [{ federations: 'o.ne=a.example' }, /not the name of a federation/],
    [{ federations: 'one=' }, /not the domain of a federation/],
    [{ federations: 'one=a.example.' }, /not the domain of a federation/],
    [{ federations: Buffer.from([0xff]) }, /federations: cannot be read: "not UTF-8"/],
  ])('is refused as a whole: %j', (values, problem) => {
    expect(read({ stubDomains: '{"good.example": ["10.0.0.1"]}', ...values })).toEqual([
      expect.stringMatching(problem),
    ]);
  });

  it('has all its problems told', () => {
    expect(read({ stubDomains: '{', upstreamNameservers: '["x"]', federations: 'x' })).toHaveLength(3);
  });

  it('never throws, whatever it holds', () => {
    const value = fc.oneof(fc.uint8Array(), fc.string(), fc.json(), fc.constantFrom('a=b', '[["a"]]'));
    const map = fc.dictionary(fc.constantFrom<string>(...CONFIG_KEYS, 'other'), value);
    fc.assert(
      fc.property(map, (values) => {
        expect(['good', 'bad']).toContain(readKubeDnsConfig(toConfigTexts(values)).kind);
      }),
    );
  });
});
