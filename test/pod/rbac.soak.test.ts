/**
 * The RBAC rules of our manifests are exactly what the code needs: with them everything becomes ready, no request is refused, and
 * no permission is unused.
 */
import { join } from 'node:path';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import type { AccessRule } from '../api-server/access.ts';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { servedByDefault } from '../api-server/catalog.ts';
import { findUnused, formatUser } from '../api-server/rbac.ts';
import { writeKubeconfig } from '../support/double-process.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { ConfigMapVolume, changeConfigMap } from './config-map.ts';
import { type LayoutFolder, readAccountRules, readAddedWords, readWords } from './containers.ts';
import { readGoldenCluster, SERVED_WITHOUT_SLICES } from './pod.ts';
import { untilProbes } from './probes.ts';

afterEach(endAllPrograms);

interface Case {
  readonly folder: LayoutFolder;
  readonly components: readonly string[];
}

const CASES = (
  [
    { folder: 'kube-dns', components: [] },
    { folder: 'kube-dns', components: ['federations'] },
    { folder: 'portolan', components: [] },
    { folder: 'portolan', components: ['federations'] },
    { folder: 'portolan', components: ['dialect-coredns'] },
    { folder: 'portolan', components: ['pods-verified'] },
    { folder: 'portolan', components: ['dialect-coredns', 'pods-verified'] },
    { folder: 'portolan', components: ['prefer-zone'] },
  ] satisfies readonly Case[]
).map((each): [string, Case] => [[`deploy/${each.folder}`, ...each.components].join(' with '), each]);

it.each(CASES)('%s', { timeout: 60_000 }, async (_, { folder, components }) => {
  const rules = readAccountRules(folder, components);
  const servers = await Promise.all(SERVED.map((serves) => startApiServer(rules, serves)));
  const runs = servers.map((server) => runWith(server, folder, components));
  for (const { readiness, alive } of await Promise.all(runs))
    await untilProbes({ readiness }, 'healthy', { alive });
  const requests = () => servers.flatMap((server) => server.requests);
  // A watch follows its list, and settings may lead to further questions.
  await expect.poll(() => findUnused(rules, requests()), { timeout: 20_000 }).toEqual([]);
  const refused = requests().filter(({ status }) => status === 401 || status === 403);
  expect(refused.map(({ verb, path }) => `${verb} ${path}`)).toEqual([]);
});

it('without the rights of the one container the rest is served, and the log says what is missing', async () => {
  const server = await startApiServer(readAccountRules('kube-dns', []), servedByDefault);
  const { readiness, alive, program } = await runWith(server, 'portolan', []);
  await untilProbes({ readiness }, 'healthy', { alive });
  await expect.poll(() => program.errors, { timeout: 20_000 }).toMatch(/configmaps .*is forbidden/);
  const refused = server.requests.filter(({ status }) => status === 403);
  expect(new Set(refused.map(({ plural }) => plural))).toEqual(new Set(['configmaps', 'namespaces']));
});

/** What API servers serve: of those without EndpointSlices, Endpoints are requested in their place. */
const SERVED = [servedByDefault, SERVED_WITHOUT_SLICES];

const USER = formatUser({ namespace: 'kube-system', name: 'kube-dns' });

async function startApiServer(rules: readonly AccessRule[], serves: readonly string[]) {
  const double = await ApiServerDouble.start({
    objects: [...readGoldenCluster(), ZONE_NODE],
    access: { tokens: { secret: USER }, rules: { [USER]: rules } },
    tls: 'server',
    serves,
  });
  onTestFinished(() => double.stop());
  return double;
}

const ZONE_NODE = {
  kind: 'Node',
  metadata: {
    name: 'node-1',
    labels: {
      'topology.kubernetes.io/zone': 'zone-a',
      'topology.kubernetes.io/region': 'region-b',
    },
  },
};

async function runWith(double: ApiServerDouble, folder: LayoutFolder, components: readonly string[]) {
  const temporary = await makeTemporaryFolder();
  const data = components.includes('federations') ? { federations: 'fed=example.com' } : {};
  changeConfigMap(double, data);
  await new ConfigMapVolume(join(temporary.path, 'config')).write(data);
  const kubeconfig = await writeKubeconfig(temporary, double.url, { token: 'secret' });
  const health = await findFreePort();
  const words = readWords(folder, folder === 'portolan' ? 'portolan' : 'kubedns').map((word) =>
    word
      .replace('/kube-dns-config', join(temporary.path, 'config'))
      .replace('/var/lib/portolan', temporary.path),
  );
  const program = runPortolan([
    ...words,
    '--dns-bind-address=127.0.0.1',
    `--dns-port=${await findFreePort()}`,
    `--healthz-port=127.0.0.1:${health}`,
    `--kubecfg-file=${kubeconfig}`,
    '--sidecar-port=none',
    '--prometheus-port=none',
    ...components.flatMap(readAddedWords),
  ]);
  const alive = () => {
    if (program.ended !== undefined) throw new Error(program.output + program.errors);
  };
  return { readiness: `http://127.0.0.1:${health}/readiness`, alive, program };
}
