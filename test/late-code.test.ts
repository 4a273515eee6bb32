/**
 * The code that servers load only when they need it: the start of each would take longer with it, and the process more memory.
 */
import { build, type Metafile } from 'esbuild';
import { beforeAll, expect, it } from 'vitest';
import { workspaces } from '../scripts/workspaces.mjs';

/** Packages that only few configurations need. */
const PACKAGES = ['yaml', 'mmdb-lib', 're2js', 'https-proxy-agent', 'socks-proxy-agent', 'koffi'];
/** A cache of a node has no cluster, so it needs neither TLS nor HTTP connections of its own. */
const OF_CLUSTERS = [
  'node:https',
  'packages/kubernetes/src/api/connection/http-connection.ts',
  'packages/kubernetes/src/publish/cluster.ts',
];

/** Few zones are signed here. */
const SIGNING = ['packages/plugins/src/dnssec/dnssec.ts', 'packages/plugins/src/sign/sign.ts'];

/** Few blocks are traced. */
const TRACING = ['packages/plugins/src/trace/trace.ts'];

/** Version 2 of etcd's API is deprecated; version 3 needs no HTTP client. */
const ETCD_V2 = [
  'packages/etcd/src/v2/client.ts',
  'packages/etcd/src/v2/reader.ts',
  'packages/etcd/src/v2/unlisted-names.ts',
];

const LATE: readonly (readonly [command: string, late: readonly string[]])[] = [
  ['serve', [...PACKAGES, ...SIGNING, ...TRACING]],
  ['kube-dns', [...PACKAGES, ...SIGNING, ...TRACING]],
  ['dnsmasq', [...PACKAGES, ...SIGNING, ...TRACING]],
  ['skydns', [...PACKAGES, ...SIGNING, ...TRACING, ...ETCD_V2]],
  ['coredns', [...PACKAGES, ...SIGNING, ...TRACING, ...OF_CLUSTERS, ...ETCD_V2]],
  ['node-cache', [...PACKAGES, ...SIGNING, ...TRACING, ...OF_CLUSTERS]],
];

const toEntryPath = (command: string) => `packages/cli/src/servers/${command}.ts`;
let inputs: Metafile['inputs'] = {};

beforeAll(async () => {
  const { metafile } = await build({
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    outdir: 'dist',
    platform: 'node',
    format: 'esm',
    packages: 'external',
    plugins: [workspaces],
    entryPoints: LATE.map(([command]) => toEntryPath(command)),
  });
  inputs = metafile.inputs;
});

/** All that is loaded with a module: what it imports but for `import()`. */
function loadedWith(entry: string): ReadonlySet<string> {
  const loaded = new Set([entry]);
  for (const module of loaded)
    for (const { path, kind } of inputs[module]?.imports ?? [])
      if (kind === 'import-statement') loaded.add(path);
  return loaded;
}

it.each(LATE)('%s loads it late', (command, late) => {
  const loaded = loadedWith(toEntryPath(command));
  expect(loaded.size).toBeGreaterThan(300);
  expect(loaded).toContain('packages/server/src/server.ts');
  expect(late.filter((module) => loaded.has(module))).toEqual([]);
});

it('knows all that is late by its name', () => {
  const known = new Set(Object.values(inputs).flatMap(({ imports }) => imports.map(({ path }) => path)));
  // These are required where they are needed, as their types alone are imported.
  const required = ['mmdb-lib', 're2js', 'koffi'];
  const late = [...PACKAGES, ...SIGNING, ...TRACING, ...OF_CLUSTERS, ...ETCD_V2].filter(
    (module) => !required.includes(module),
  );
  expect(late.filter((module) => !known.has(module))).toEqual([]);
});
