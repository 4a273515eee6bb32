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
import { ExitError } from './exit.ts';
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
  command.action(async (flags: ManifestsFlags) => {
    const plan = planOrExit(flags);
    // Loaded late: the reader of YAML takes memory that a server would keep.
    const { printManifests } = await import('./print-manifests.ts');
    process.stdout.write(printManifests(plan));
  });
}

function planOrExit(flags: ManifestsFlags): ManifestsPlan {
  const checked = planFromManifestsFlags(flags, VERSION);
  if (checked.kind === 'good') return checked.value;
  process.stderr.write('portolan manifests: problems with the flags\n');
  for (const problem of checked.problems) process.stderr.write(`  ${describeProblem(problem)}\n`);
  throw new ExitError(2);
}
