import { parseName, toKey } from '@portolan/dns/name.ts';
import { formatUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { describe, expect, it } from 'vitest';
import { memorySources } from '../../dnsmasq/settings/testing/memory-sources.ts';
import { readResolver } from './resolver-flags.ts';
import { createServeFlagReader, type ServeFlags } from './serve-flags.ts';
import type { ResolverPlan } from './serve-options.ts';

const DOMAIN = toKey(parseName('cluster.local.'));

function readFlags(flags: ServeFlags, files: Readonly<Record<string, string>> = {}) {
  const read = createServeFlagReader(flags);
  const plan = readResolver(read, DOMAIN, memorySources({ files }));
  return { plan, problems: read.problems.map(describeProblem) };
}

function readPlan(flags: ServeFlags, files?: Readonly<Record<string, string>>): ResolverPlan {
  const { plan, problems } = readFlags(flags, files);
  expect(problems).toEqual([]);
  return plan;
}

function formatRules({ stubDomains }: ResolverPlan): readonly string[] {
  return stubDomains.map(({ names, target }) => {
    const domains = names.map((match) => (match.kind === 'domain' ? match.name : match.kind)).join();
    const servers =
      target.kind === 'servers'
        ? target.servers.map(({ address }) => formatUpstream(address))
        : [target.kind];
    return `${domains} ${servers.join()}`;
  });
}

describe('upstream servers', () => {
  it('are those of a resolv.conf unless they are named', () => {
    expect(readPlan({ resolvFile: '/run/resolv.conf' }).upstreams).toEqual({
      kind: 'resolv-file',
      path: '/run/resolv.conf',
    });
    const { upstreams } = readPlan({
      upstream: ['10.0.0.10, tls://1.1.1.1#one.one.one.one', '[fd00::1]:5353'],
    });
    expect(upstreams.kind === 'servers' ? upstreams.servers.map(formatUpstream) : upstreams.kind).toEqual([
      '10.0.0.10:53',
      'tls://1.1.1.1:853#one.one.one.one',
      '[fd00::1]:5353',
    ]);
    expect(readPlan({ upstream: ['none'] }).upstreams).toEqual({ kind: 'none' });
  });

  it.each<[ServeFlags, string]>([
    [
      { upstream: ['10.0.0.300'] },
      '--upstream: not an upstream server: "10.0.0.300". Give one such as 10.0.0.10, 10.0.0.10:5353 or tls://1.1.1.1#one.one.one.one.',
    ],
    [
      { upstream: ['none', '10.0.0.1'] },
      '--upstream: given together with others: "none". Leave it out, or the others.',
    ],
    [
      { upstream: ['10.0.0.1'], resolvFile: '/etc/resolv.conf' },
      '--resolv-file: has no effect beside --upstream: "/etc/resolv.conf". Leave one of the two out.',
    ],
    [
      { upstreamPolicy: 'fast' },
      '--upstream-policy: unknown: "fast". Give sequential, random, round-robin, fastest or all.',
    ],
    [
      { cacheBytes: '-1' },
      '--cache-bytes: not a size: "-1". Give octets from 0 to 512M, with K, M or G for units of 1024.',
    ],
    [
      { cacheBytes: '1G' },
      '--cache-bytes: out of range: "1G". Give octets from 0 to 512M, with K, M or G for units of 1024.',
    ],
  ])('refuse %j', (flags, problem) => {
    expect(readFlags(flags).problems).toEqual([problem]);
  });
});

describe('stub domains', () => {
  it('have one or several servers, and one or several domains', () => {
    const stubDomain = [
      'corp.example=10.0.0.1,10.0.0.2:5353',
      'A.example,b.example.=dns.b.example',
      'gone.example=',
    ];
    expect(formatRules(readPlan({ stubDomain }))).toEqual([
      'corp.example. 10.0.0.1:53,10.0.0.2:5353',
      'a.example.,b.example. dns.b.example:53',
      'gone.example. local-only',
    ]);
  });

  it('may lie in the zone of the cluster, where Kubernetes makes no names', () => {
    expect(
      formatRules(readPlan({ stubDomain: ['corp.cluster.local=10.0.0.1', 'local=10.0.0.2'] })),
    ).toHaveLength(2);
  });

  it.each([
    [
      'corp.example',
      '--stub-domain: not a domain and its servers: "corp.example". Give one such as corp.example=10.0.0.10.',
    ],
    [
      'a=b=c',
      '--stub-domain: not a domain and its servers: "a=b=c". Give one such as corp.example=10.0.0.10.',
    ],
    [
      '.=10.0.0.1',
      '--stub-domain: the root is not a zone of a cluster: ".". Give a name such as corp.example.',
    ],
    [
      'Cluster.Local=10.0.0.1',
      '--stub-domain: the cluster\'s own: "Cluster.Local". Give a domain whose names are not made by Kubernetes.',
    ],
    [
      'blue.svc.cluster.local=10.0.0.1',
      '--stub-domain: the cluster\'s own: "blue.svc.cluster.local". Give a domain whose names are not made by Kubernetes.',
    ],
  ])('refuse %s', (text, problem) => {
    expect(readFlags({ stubDomain: [text] }).problems).toEqual([problem]);
  });
});

describe("a file of dnsmasq's options", () => {
  const conf = (text: string) => ({ '/etc/portolan.conf': text });
  const dnsmasqConf = '/etc/portolan.conf';

  it('changes what it speaks of, and nothing else', () => {
    const plan = readPlan({ dnsmasqConf }, conf('server=/corp.example/10.0.0.1\nfilter-AAAA\n'));
    expect(plan).toMatchObject({
      upstreams: { kind: 'resolv-file', path: '/etc/resolv.conf' },
      policy: 'sequential',
      cacheEntries: undefined,
      notes: [],
      dnsmasq: { filters: { types: [28] } },
    });
    expect(plan.dnsmasq?.upstreams.routes).toHaveLength(1);
    const other = readPlan({ dnsmasqConf }, conf('no-resolv\nall-servers\ncache-size=150\n'));
    expect(other).toMatchObject({ upstreams: { kind: 'none' }, policy: 'all', cacheEntries: 150 });
  });

  it('gives way to flags', () => {
    const plan = readPlan(
      { dnsmasqConf, upstream: ['10.0.0.2'], upstreamPolicy: 'random' },
      conf('no-resolv\nall-servers\n'),
    );
    expect(plan).toMatchObject({ upstreams: { kind: 'servers' }, policy: 'random' });
  });

  it('says what of it has no effect', () => {
    const { notes } = readPlan({ dnsmasqConf }, conf('port=5353\nlog-queries\nuser=root\n'));
    expect(notes.map((note) => note.split(' Use ')[0])).toEqual([
      '--dnsmasq-conf: In portolan serve these have no effect: port.',
      '--dnsmasq-conf: In portolan serve these have no effect: keep-in-foreground, user, group, pid-file.',
      '--dnsmasq-conf: In portolan serve these have no effect: log-facility, log-queries, log-debug.',
    ]);
  });

  it('is refused with the line that is wrong', () => {
    const { problems } = readFlags({ dnsmasqConf }, conf('# mine\nsrever=10.0.0.1\n'));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('/etc/portolan.conf');
    expect(readFlags({ dnsmasqConf: '/nowhere' }).problems).toEqual([
      '--dnsmasq-conf: cannot read a file, no such file or folder: "/nowhere". Name a file that can be read.',
    ]);
  });
});
