/**
 * There is one kind of block: in every front end only blocks of plugins answer, and each plugin is in one list.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { ORDER_PROFILES } from '@portolan/corefile/coredns-version.ts';
import { pluginOrder } from '@portolan/frontends/coredns/settings/plugin-order.ts';
import { compileText } from '@portolan/frontends/coredns/settings/testing/compile-plan.ts';
import { compileDnsmasq } from '@portolan/frontends/dnsmasq/settings/compile-dnsmasq.ts';
import { memorySources } from '@portolan/frontends/dnsmasq/settings/testing/memory-sources.ts';
import { readPlan as planOfDnsmasq } from '@portolan/frontends/dnsmasq/settings/testing/read-plan.ts';
import { COREFILE_PLUGINS, PLUGINS } from '@portolan/frontends/plugins/registry.ts';
import { compileServe } from '@portolan/frontends/serve/settings/compile-serve.ts';
import { NO_SERVERS } from '@portolan/frontends/serve/settings/resolver-settings.ts';
import { planFromFlags } from '@portolan/frontends/serve/settings/serve-plan.ts';
import { compileSkyDns } from '@portolan/frontends/skydns/settings/compile-skydns.ts';
import { readSkyDnsFlags } from '@portolan/frontends/skydns/settings/skydns-flags.ts';
import { readSettings } from '@portolan/frontends/skydns/settings/skydns-settings.ts';
import { pluginUses } from '@portolan/kernel/plan/server-blocks-plan.ts';
import { LOCAL_PLACES } from '@portolan/plugins/local-names/options.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';
import { describe, expect, it } from 'vitest';
import { resolveImport } from '../support/sources.ts';

function planOfServe(command: 'serve' | 'kube-dns'): ServerPlan {
  const given = { upstream: ['192.0.2.53'] };
  const checked = planFromFlags(
    given,
    { cores: 2, terminal: false, environment: {} },
    memorySources({}),
    command,
  );
  if (checked.kind === 'bad') throw new Error(JSON.stringify(checked.problems));
  return compileServe(checked.value, NO_SERVERS, { interfaces: {}, ownAddresses: ['192.0.2.2'] });
}

function planOfSkyDns(): ServerPlan {
  const reading = readSkyDnsFlags(['-domain', 'skydns.test.', '-nameservers', '192.0.2.53:53'], {});
  if (reading.kind !== 'flags') throw new Error('no flags');
  const settings = readSettings(reading.read, {});
  if (settings.kind === 'bad') throw new Error(JSON.stringify(settings.problems));
  return compileSkyDns(settings.settings, { systemServers: [], stubZones: [] }, { udpReaders: 1, now: 0 });
}

const PLANS: Readonly<Record<string, () => ServerPlan>> = {
  serve: () => planOfServe('serve'),
  'kube-dns': () => planOfServe('kube-dns'),
  dnsmasq: () =>
    compileDnsmasq(
      planOfDnsmasq('no-resolv\nserver=192.0.2.53\n'),
      { fromResolvFile: [], moreRoutes: [] },
      { interfaces: {}, udpReaders: 1 },
    ),
  skydns: planOfSkyDns,
  // That of node-cache is a Corefile too, which it renders from its template.
  coredns: () => compileText('.:53 {\n cache\n forward . 192.0.2.53\n}\n'),
};

/** By name, the folder of each plugin. */
const FOLDERS: ReadonlyMap<string, string> = new Map(
  ['plugins/src', 'kubernetes/src/plugins', 'etcd/src/plugins', 'frontends/src/plugins'].flatMap((folder) =>
    readdirSync(`packages/${folder}`, { withFileTypes: true })
      .filter((each) => each.isDirectory())
      .map(({ name }) => [name, `packages/${folder}/${name}`] as const),
  ),
);
/** By folder, the file that defines its plugin. */
const DEFINED: ReadonlyMap<string, string> = new Map(
  [...FOLDERS].map(([name, folder]) => [name, readFileSync(`${folder}/plugin.ts`, 'utf8')]),
);

const PLACES: ReadonlySet<string> = new Set(Object.values(LOCAL_PLACES));

describe.each(Object.entries(PLANS))('%s', (_, make) => {
  const { engine } = make();

  it('says by blocks alone what is answered', () => {
    const { blocks, groups, responses, restored, cache, udpSize, losses: _losses, ...others } = engine;
    expect(others).toEqual({});
    expect([responses.counting.by, restored.size, cache.octets > 0, udpSize > 0]).toEqual([
      expect.stringMatching(/^(site|domain)$/),
      0,
      true,
      true,
    ]);
    expect(groups.length).toBeGreaterThan(0);
    for (const { plugins, zones, clients: _clients, ...more } of blocks) {
      expect(more).toEqual({});
      expect(plugins.length).toBeGreaterThan(0);
      expect(zones.length).toBeGreaterThan(0);
    }
  });

  it('has plugins that are folders', () => {
    for (const { name, definition } of pluginUses(engine))
      expect([name, DEFINED.has(name) || PLACES.has(name)]).toEqual([definition.name, true]);
  });
});

describe('the folders of plugins', () => {
  it('define a plugin of their name each', () => {
    for (const [folder, text] of DEFINED)
      expect([folder, /= definePlugin(?:<[^>]+>)?\(\{\s*name: '([^']+)'/.exec(text)?.[1]]).toEqual([
        folder,
        folder,
      ]);
  });

  it('are in the one list', () => {
    expect(PLUGINS.map(({ name }) => name).toSorted()).toEqual([...DEFINED.keys()].toSorted());
  });

  it('may be named by a Corefile if they have a directive', () => {
    const named = [...DEFINED].filter(([, text]) => /^ {2}syntax: /m.test(text)).map(([folder]) => folder);
    expect(COREFILE_PLUGINS.map(({ name }) => name).toSorted()).toEqual(named.toSorted());
  });

  it('say by README what each plugin does', () => {
    expect([...FOLDERS.values()].filter((folder) => !existsSync(`${folder}/README.md`))).toEqual([]);
  });

  it('have a place in the order of each version, but for those that came with 1.14', () => {
    for (const profile of ORDER_PROFILES) {
      const order = pluginOrder(profile);
      const missing = COREFILE_PLUGINS.map(({ name }) => name).filter((name) => !order.includes(name));
      expect(missing).toEqual(profile === '1.13' ? ['grpc_server', 'https', 'proxyproto', 'shed'] : []);
    }
  });

  it('load what is large only where a block has it', () => {
    const late =
      /^packages\/(?:kubernetes\/src\/(?:api\/|publish\/cluster)|etcd\/src\/source\/etcd-source|sources\/src\/local\/local-data)/;
    const all = [
      'packages/kubernetes/src/plugins/kubernetes/kubernetes-plugin.ts',
      'packages/etcd/src/plugins/etcd/etcd-plugin.ts',
    ];
    expect(all.map((path) => [...loadedWith(path)].some((loaded) => late.test(loaded)))).toEqual([
      true,
      true,
    ]);
    for (const list of [
      'packages/frontends/src/plugins/plugins.ts',
      'packages/server/src/plan/plain-block.ts',
    ])
      expect([...loadedWith(list)].filter((path) => late.test(path))).toEqual([]);
  });
});

/** A module and all that it loads with it, as paths from the root: imports of types and late ones are left out. */
function loadedWith(path: string, loaded = new Set<string>()): ReadonlySet<string> {
  if (loaded.has(path)) return loaded;
  loaded.add(path);
  const text = readFileSync(path, 'utf8');
  const imported = /^(?:import|export) (?!type )[^;]*?from '((?:\.|@portolan\/(?!plugin'))[^']+)'/gm;
  for (const [, target = ''] of text.matchAll(imported)) loadedWith(resolveImport(path, target), loaded);
  return loaded;
}
