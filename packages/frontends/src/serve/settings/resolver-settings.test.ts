import { parseName, toKey } from '@portolan/dns/name.ts';
import type { ForwardRule } from '@portolan/kernel/forward/forward-plan.ts';
import { formatUpstream, parseUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { EMPTY_CONFIG } from '@portolan/server/settings/config-map/config-map.ts';
import { describe, expect, it } from 'vitest';
import { memorySources } from '../../dnsmasq/settings/testing/memory-sources.ts';
import { readResolver } from './resolver-flags.ts';
import { makeLastOptions } from './resolver-settings.ts';
import { createServeFlagReader, type ServeFlags } from './serve-flags.ts';

const DOMAIN = toKey(parseName('cluster.local.'));
const FROM_FILE = [parseUpstream('192.0.2.53')];

function makeSettings(flags: ServeFlags, conf?: string, config = EMPTY_CONFIG) {
  const files = conf === undefined ? {} : { '/portolan.conf': conf };
  const all = conf === undefined ? flags : { ...flags, dnsmasqConf: '/portolan.conf' };
  const read = createServeFlagReader(all);
  const plan = readResolver(read, DOMAIN, memorySources({ files }));
  expect(read.problems).toEqual([]);
  const { cache, forward, filteredTypes } = makeLastOptions(plan, {
    fromFile: plan.upstreams.kind === 'resolv-file' ? FROM_FILE : [],
    config,
  });
  return { ...cache, forward, filteredTypes };
}

/** The effective rule of each domain. */
function routes(rules: readonly ForwardRule[]): Readonly<Record<string, string>> {
  const found = rules.flatMap(({ names, target }) =>
    names.map((match) => [
      match.kind === 'domain' ? match.name : match.kind,
      target.kind === 'servers'
        ? target.servers.map(({ address }) => formatUpstream(address)).join()
        : target.kind,
    ]),
  );
  return Object.fromEntries(found);
}

describe('who is asked', () => {
  it('are the servers of the file, unless others are named', () => {
    expect(routes(makeSettings({}).forward.rules)).toEqual({ '.': '192.0.2.53:53' });
    expect(routes(makeSettings({ upstream: ['10.0.0.1'] }).forward.rules)).toEqual({ '.': '10.0.0.1:53' });
    expect(routes(makeSettings({ upstream: ['none'] }).forward.rules)).toEqual({});
  });

  it('are stub domains before what a file of dnsmasq says, and that with the servers of its own', () => {
    const conf = 'server=/a.test/10.0.0.2\nserver=/b.test/10.0.0.3\nlocal=/c.test/\nserver=10.0.0.4\n';
    expect(routes(makeSettings({ stubDomain: ['a.test=10.0.0.9'] }, conf).forward.rules)).toEqual({
      'a.test.': '10.0.0.9:53',
      'b.test.': '10.0.0.3:53',
      'c.test.': 'local-only',
      '.': '10.0.0.4:53,192.0.2.53:53',
    });
    expect(routes(makeSettings({}, `${conf}no-resolv\n`).forward.rules)).toMatchObject({
      '.': '10.0.0.4:53',
    });
    expect(routes(makeSettings({ upstream: ['10.0.0.1'] }, conf).forward.rules)).toMatchObject({
      '.': '10.0.0.1:53',
    });
  });

  it('are the servers of a ConfigMap before those of the machine, and behind what flags say', () => {
    const upstreams = [parseUpstream('10.0.0.5')];
    const stub = (name: string) => ({ domain: toKey(parseName(name)), servers: [parseUpstream('10.0.0.6')] });
    const none = { domain: toKey(parseName('none.test.')), servers: [] };
    const config = { ...EMPTY_CONFIG, upstreams, stubDomains: [stub('a.test.'), stub('b.test.'), none] };
    const formatRules = (flags: ServeFlags, conf?: string) =>
      routes(makeSettings(flags, conf, config).forward.rules);
    expect(formatRules({})).toEqual({
      'a.test.': '10.0.0.6:53',
      'b.test.': '10.0.0.6:53',
      '.': '10.0.0.5:53',
    });
    expect(formatRules({ stubDomain: ['a.test=10.0.0.9'], nameservers: '10.0.0.1' })).toEqual({
      'a.test.': '10.0.0.9:53',
      'b.test.': '10.0.0.6:53',
      '.': '10.0.0.1:53',
    });
    expect(formatRules({ upstream: ['none'] })).toEqual({
      'a.test.': '10.0.0.6:53',
      'b.test.': '10.0.0.6:53',
    });
    expect(formatRules({}, 'server=/c.test/10.0.0.3\n')).toMatchObject({
      'c.test.': '10.0.0.3:53',
      '.': '10.0.0.5:53',
    });
  });

  it('in the order of the policy, with hedging and a look for loops whatever dnsmasq would do', () => {
    const { forward } = makeSettings({ upstreamPolicy: 'fastest' }, 'all-servers\ndns-forward-max=10\n');
    expect(forward).toMatchObject({
      policy: 'fastest',
      hedging: true,
      retry: { trigger: 'timeout' },
      loopDetection: true,
      limits: { inFlight: 10 },
    });
  });
});

describe('what is kept', () => {
  it('is what suits a cluster', () => {
    const { caching, serveStale, refreshesUsed, filteredTypes } = makeSettings({});
    expect(caching).toMatchObject({
      minCacheTtl: 0,
      maxCacheTtl: 86_400,
      maxNegativeTtl: 5,
      failureTtl: 5,
    });
    expect(serveStale).toMatchObject({ duration: 86_400_000, ttl: 30, verifyTimeout: 1_800, recheck: 5_000 });
    expect([refreshesUsed, filteredTypes.size]).toEqual([true, 0]);
  });

  it('is what options say', () => {
    const conf = 'min-cache-ttl=10\nmax-cache-ttl=100\nmax-ttl=50\nneg-ttl=60\nno-negcache\n';
    expect(makeSettings({}, conf).caching).toMatchObject({
      minCacheTtl: 10,
      maxCacheTtl: 100,
      negTtl: 60,
      maxNegativeTtl: 60,
      negativeCaching: false,
    });
    expect(makeSettings({}, conf).maxTtl).toBe(50);
    expect(makeSettings({}).maxTtl).toBeUndefined();
    expect(makeSettings({}, 'use-stale-cache=60\n').serveStale?.duration).toBe(60_000);
    expect(makeSettings({}, 'use-stale-cache=0\n').serveStale?.duration).toBe(Number.POSITIVE_INFINITY);
    expect(makeSettings({}, 'no-round-robin\nfilter-A\n')).toMatchObject({
      filteredTypes: new Set([1]),
    });
  });
});
