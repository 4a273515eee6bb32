/**
 * Renders the shipped manifests for a cluster.
 */
import { fillIn } from '@portolan/ops/manifests/fill-in.ts';
import { ManifestFileError, readKustomization } from '@portolan/ops/manifests/layout-files.ts';
import { LAYOUT_FOLDERS, type ManifestsPlan } from '@portolan/ops/manifests/settings/manifests-flags.ts';
import { splitManifests } from '@portolan/ops/manifests/split-manifests.ts';
import { ExitError } from '../grammar/exit.ts';
import { packageFolder } from '../process/package-folder.ts';

/** @throws ExitError if they cannot be read, after the reason is printed */
export function printManifests(plan: ManifestsPlan): string {
  const command = `portolan manifests ${writeFlags(plan)}`;
  try {
    const files = readKustomization(packageFolder(LAYOUT_FOLDERS[plan.layout]));
    const { printed, replaced, leftOut } = splitManifests(files, plan.withConfigMap);
    const heading = [
      `Printed by: ${command}`,
      '',
      'What an apply would change, without changing it:',
      `  ${command} | kubectl diff -f -`,
      '',
      'An apply replaces fields of these objects, if the cluster has them:',
      ...replaced.map((name) => `  ${name}`),
      ...replaced.filter((name) => name === CLUSTER_SERVICE).flatMap(describeDeletion),
      ...leftOut.flatMap((name) => describeLeftOut(name)),
    ];
    return fillIn(printed, plan, heading);
  } catch (error) {
    if (!(error instanceof ManifestFileError)) throw error;
    process.stderr.write(`portolan manifests: ${error.message}\n`);
    throw new ExitError(1);
  }
}

function writeFlags({
  layout,
  dnsServer,
  domain,
  image,
  scaled,
  replicas,
  withConfigMap,
}: ManifestsPlan): string {
  return [
    `--layout=${layout}`,
    ...(layout === 'autoscaler'
      ? [`--like=${scaled}`]
      : [`--dns-server-ip=${dnsServer}`, `--domain=${domain}`]),
    `--image=${image}`,
    ...(replicas === undefined ? [] : [`--replicas=${replicas}`]),
    ...(withConfigMap ? ['--with-config-map'] : []),
  ].join(' ');
}

/** Pods of the cluster ask it, whoever answers behind it. */
const CLUSTER_SERVICE = 'Service kube-system/kube-dns';

const describeDeletion = (name: string): readonly string[] => [
  '',
  `To go back, undo the rollout. kubectl delete -f would also delete ${name}, and pods would have no DNS.`,
];

const describeLeftOut = (name: string): readonly string[] => [
  '',
  `Not printed, since an apply would replace the configuration of the cluster: ${name}.`,
  'The pods need it. If the cluster has none, print it by --with-config-map.',
];
