/**
 * The small containers load only little code.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { findPackage, resolveImport } from '../support/sources.ts';

/** The code of a DNS server, and of a client of an API server. */
const OF_SERVERS =
  /^packages\/(?:kernel\/src\/(?:socket|table|zone|chain|listen|engine)|plugins|kubernetes|server\/src\/[\w-]+\.ts)/;
const OF_CLUSTERS = /^packages\/kubernetes\//;

/** Our modules and the packages that a module loads before it runs, and all that these load. */
function loadedBy(path: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  const text = readFileSync(path, 'utf8');
  for (const [, what = '', target = ''] of text.matchAll(/^(?:import|export) ([^;]*?)from '([^']+)';/gms)) {
    if (what.startsWith('type ')) continue;
    const resolved = resolveImport(path, target);
    if (findPackage(resolved) === undefined) seen.add(target);
    else loadedBy(resolved, seen);
  }
  return seen;
}

it.each(['packages/cli/src/programs/sidecar.ts', 'packages/cli/src/programs/healthz.ts'])(
  '%s loads no server and no package',
  (command) => {
    const loaded = [...loadedBy(command)];
    expect(loaded.length).toBeGreaterThan(10);
    expect(loaded.filter((each) => findPackage(each) === undefined && !each.startsWith('node:'))).toEqual([]);
    expect(loaded.filter((each) => OF_SERVERS.test(each))).toEqual([]);
  },
);

it('the autoscaler loads no server and no package', () => {
  const loaded = [...loadedBy('packages/cli/src/programs/autoscaler.ts')];
  expect(loaded.length).toBeGreaterThan(50);
  expect(loaded.filter((each) => findPackage(each) === undefined && !each.startsWith('node:'))).toEqual([]);
  expect(loaded.filter((each) => OF_SERVERS.test(each) && !OF_CLUSTERS.test(each))).toEqual([]);
});

it('the program reads no command that it does not run', () => {
  expect([...loadedBy('packages/cli/src/program.ts')].toSorted()).toEqual(
    [
      ...['command-table', 'process/first-reader', 'process/outputs', 'program'].map(
        (name) => `packages/cli/src/${name}.ts`,
      ),
      'packages/kernel/src/base/describe-error.ts',
      'packages/kernel/src/listen/reader-threads.ts',
      'node:worker_threads',
    ].toSorted(),
  );
});

it('the servers load the code for proxies, YAML and TLS late', () => {
  for (const command of ['kube-dns', 'serve', 'dnsmasq-nanny']) {
    const loaded = loadedBy(`packages/cli/src/servers/${command}.ts`);
    expect(loaded.size).toBeGreaterThan(100);
    for (const late of ['socks-proxy-agent', 'https-proxy-agent', 'yaml', 'koffi'])
      expect(loaded).not.toContain(late);
  }
  expect(loadedBy('packages/cli/src/servers/dnsmasq-nanny.ts')).not.toContain('node:tls');
});
