import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatUpstream } from '../../forward/upstream-address.ts';
import { describeProblem } from '../problem.ts';
import { readKubeDnsServers } from './config-map.ts';

function read(values: Readonly<Record<string, string>>): unknown {
  const checked = readKubeDnsServers(new Map(Object.entries(values)));
  if (checked.kind === 'bad') return checked.problems.map(describeProblem);
  const { stubDomains, upstreams } = checked.value;
  return {
    stubDomains: stubDomains.map(({ domain, servers }) => [domain, servers.map(formatUpstream)]),
    upstreams: upstreams.map(formatUpstream),
  };
}

describe("kube-dns's ConfigMap", () => {
  it('may be empty', () => {
    expect(read({})).toEqual({ stubDomains: [], upstreams: [] });
    expect(read({ stubDomains: 'null', upstreamNameservers: 'null' })).toEqual({
      stubDomains: [],
      upstreams: [],
    });
  });

  it('names servers by domain and for all else', () => {
    expect(
      read({
        stubDomains:
          '{"Acme.local": ["10.0.0.1", "10.0.0.2:5353", "dns.acme.svc.cluster.local"], "b.test": []}',
        upstreamNameservers: '["8.8.8.8", "[2001:db8::1]:53", "8.8.4.4:5353"]',
      }),
    ).toEqual({
      stubDomains: [
        ['acme.local.', ['10.0.0.1:53', '10.0.0.2:5353', 'dns.acme.svc.cluster.local:53']],
        ['b.test.', []],
      ],
      upstreams: ['8.8.8.8:53', '[2001:db8::1]:53', '8.8.4.4:5353'],
    });
  });

  it.each([
    [{ stubDomains: '{' }, /stubDomains: not JSON: "{"/],
    [{ stubDomains: '[]' }, /stubDomains: not an object/],
    [{ stubDomains: '{"a..b": []}' }, /not a domain: "a..b"/],
    [{ stubDomains: '{".": []}' }, /not a domain/],
    [{ stubDomains: '{"a": "10.0.0.1"}' }, /not a list/],
    [{ stubDomains: '{"a": [7]}' }, /not a server: "7"/],
    [{ stubDomains: '{"a": ["tls://10.0.0.1"]}' }, /not a server/],
    [{ upstreamNameservers: '"8.8.8.8"' }, /upstreamNameservers: not a list/],
    [{ upstreamNameservers: '["dns.google"]' }, /not a server: "dns.google"/],
    [{ upstreamNameservers: '["1.1.1.1:0"]' }, /not a server/],
    [{ upstreamNameservers: '["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]' }, /too many servers: "4"/],
  ])('is refused as a whole: %j', (values, problem) => {
    expect(read(values)).toEqual([expect.stringMatching(problem)]);
  });

  it('never throws, whatever the files hold', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), fc.oneof(fc.string(), fc.json()), (one, other) => {
        const checked = readKubeDnsServers(
          new Map([
            ['stubDomains', one],
            ['upstreamNameservers', other],
          ]),
        );
        expect(['good', 'bad']).toContain(checked.kind);
      }),
    );
  });
});
