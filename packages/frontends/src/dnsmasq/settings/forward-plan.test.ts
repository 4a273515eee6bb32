import { defaultRule, type ForwardRule } from '@portolan/kernel/forward/forward-plan.ts';
import { formatUpstream, parseUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { describe, expect, it } from 'vitest';
import { type DnsmasqInputs, makeForwardPlan } from './forward-plan.ts';
import { readPlan } from './testing/read-plan.ts';

const NOTHING: DnsmasqInputs = { fromResolvFile: [], moreRoutes: [] };
const plan = (lines: string, servers = NOTHING) => makeForwardPlan(readPlan(lines), servers);

function rules(lines: string, servers = NOTHING): readonly string[] {
  return plan(lines, servers).rules.map(describeRule);
}

function describeRule({ names, target }: ForwardRule): string {
  const match = names.map((name) =>
    name.kind === 'domain' ? name.name : name.kind === 'ending' ? `*${name.text}` : '//',
  );
  const to =
    target.kind === 'servers'
      ? target.servers.map(({ address }) => formatUpstream(address)).join()
      : target.kind;
  return `${match.join()} ${to}`;
}

describe('rules', () => {
  it.each([
    ['server=192.0.2.1\nserver=192.0.2.2#5353', ['. 192.0.2.1:53,192.0.2.2:5353']],
    ['server=/a.test/b.test/192.0.2.1', ['a.test. 192.0.2.1:53', 'b.test. 192.0.2.1:53']],
    ['server=/a.test/192.0.2.1\nserver=/a.test/192.0.2.2', ['a.test. 192.0.2.1:53,192.0.2.2:53']],
    ['server=/a.test/\nserver=/a.test/192.0.2.1', ['a.test. local-only']],
    ['local=/a.test/', ['a.test. local-only']],
    ['server=/a.test/#', ['a.test. default']],
    ['server=//192.0.2.1', ['// 192.0.2.1:53']],
    ['server=/*a.test/192.0.2.1', ['*a.test. 192.0.2.1:53']],
    ['address=/a.test/192.0.2.9', []],
    ['rev-server=192.0.2.0/24,192.0.2.1', ['2.0.192.in-addr.arpa. 192.0.2.1:53']],
    ['server=192.0.2.1@eth7@10.0.0.1#99', ['. 192.0.2.1:53@eth7@10.0.0.1#99']],
    ['server=dns.test#53', ['. dns.test:53']],
  ])('%j', (lines, expected) => {
    expect(rules(lines)).toEqual(expected);
  });

  const fromFile = [parseUpstream('192.0.2.77')];

  it('put the servers of a resolv file behind those of options', () => {
    const servers = { ...NOTHING, fromResolvFile: fromFile };
    expect(rules('server=192.0.2.1', servers)).toEqual(['. 192.0.2.1:53,192.0.2.77:53']);
    expect(rules('', servers)).toEqual(['. 192.0.2.77:53']);
  });

  it('leave resolv files aside where the nanny says so', () => {
    const nanny = { rules: [defaultRule([parseUpstream('192.0.2.88')])], replacesResolvFiles: true };
    const servers = { ...NOTHING, fromResolvFile: fromFile, nanny };
    expect(rules('server=/a.test/192.0.2.1', servers)).toEqual(['a.test. 192.0.2.1:53', '. 192.0.2.88:53']);
  });
});

describe('servers that are ourselves', () => {
  it('are left out, and their domains go nowhere else', () => {
    const isOurselves = ({ port }: { readonly port: number }) => port === 5399;
    const servers = { ...NOTHING, isOurselves, fromResolvFile: [parseUpstream('127.0.0.1:5399')] };
    expect(rules('server=192.0.2.1\nserver=/a.test/127.0.0.1#5399', servers)).toEqual([
      '. 192.0.2.1:53',
      'a.test. ',
    ]);
  });
});

describe('the rest of the plan', () => {
  it('behaves as dnsmasq does unless options say otherwise', () => {
    expect(plan('')).toMatchObject({
      policy: 'fastest',
      hedging: false,
      loopDetection: false,
      udpSize: 1232,
      sourcePorts: { kind: 'any' },
      retry: { trigger: 'client', scope: 'all' },
      failFast: false,
      timing: { deadline: 10_000, negativeWait: 0 },
    });
  });

  it.each([
    ['strict-order', { policy: 'sequential', retry: { trigger: 'client', scope: 'next' } }],
    ['all-servers', { policy: 'all' }],
    ['dns-loop-detect', { loopDetection: true }],
    ['edns-packet-max=4096', { udpSize: 4096 }],
    ['fast-dns-retry=700,3000', { timing: { deadline: 3000 } }],
    ['fast-dns-retry=700', { hedging: true, timing: { firstTimeout: 700 }, retry: { trigger: 'timeout' } }],
    ['dns-forward-max=10', { limits: { inFlight: 10, perClient: 10 } }],
    ['query-port=5300', { sourcePorts: { kind: 'fixed', port: 5300 } }],
    ['min-port=2000\nmax-port=3000', { sourcePorts: { kind: 'range', min: 2000, max: 3000 } }],
  ])('%j', (lines, expected) => {
    expect(plan(lines)).toMatchObject(expected);
  });
});
