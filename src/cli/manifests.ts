/**
 * `portolan manifests`: the shipped manifests, filled in for a cluster, for `kubectl apply -f -`.
 */
import { type Command, Option } from 'commander';
import {
  type ManifestsFlags,
  type ManifestsPlan,
  planFromManifestsFlags,
} from '../config/manifests-flags.ts';
import { describeProblem } from '../config/problem.ts';
import { fillIn } from '../roles/manifests/fill-in.ts';
import { ManifestFileError, readKustomization } from '../roles/manifests/layout-files.ts';
import { ExitError } from './exit.ts';
import { packageFolder } from './package-folder.ts';
import { VERSION } from './version.ts';

const OPTIONS: readonly Option[] = [
  new Option(
    '--dns-server-ip <ip>',
    'address of the Service, clusterDNS of the kubelets (default: 10.96.0.10)',
  ),
  new Option(
    '--domain <name>',
    'the zone of the cluster, clusterDomain of the kubelets (default: cluster.local)',
  ),
  new Option('--image <name>', `image with its tag or digest (default: portolan:${VERSION})`),
  new Option('--layout <number>', 'containers of a pod: one, three as in kube-dns (default: one)'),
];

export function addManifestsCommand(program: Command): void {
  const command = program
    .command('manifests')
    .description('print the manifests of a cluster DNS, ready for kubectl apply -f -')
    .usage('[flags]');
  for (const option of OPTIONS) command.addOption(option);
  command.action((flags: ManifestsFlags) => {
    process.stdout.write(print(planOrExit(flags)));
  });
}

function planOrExit(flags: ManifestsFlags): ManifestsPlan {
  const checked = planFromManifestsFlags(flags, VERSION);
  if (checked.kind === 'good') return checked.value;
  process.stderr.write('portolan manifests: problems with the flags\n');
  for (const problem of checked.problems) process.stderr.write(`  ${describeProblem(problem)}\n`);
  throw new ExitError(2);
}

function print(plan: ManifestsPlan): string {
  const { layout, dnsServer, domain, image } = plan;
  const folder = packageFolder(layout === 'one' ? 'deploy/portolan' : 'deploy/kube-dns');
  const words = `--layout=${layout} --dns-server-ip=${dnsServer} --domain=${domain} --image=${image}`;
  try {
    return fillIn(readKustomization(folder), plan, [`Printed by: portolan manifests ${words}`]);
  } catch (error) {
    if (!(error instanceof ManifestFileError)) throw error;
    process.stderr.write(`portolan manifests: ${error.message}\n`);
    throw new ExitError(1);
  }
}
