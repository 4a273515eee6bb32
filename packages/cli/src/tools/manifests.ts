/**
 * `portolan manifests`: the shipped manifests, filled in for a cluster, for `kubectl apply -f -`.
 */
import {
  MANIFESTS_FLAGS,
  type ManifestsPlan,
  planFromManifestsFlags,
} from '@portolan/ops/manifests/settings/manifests-flags.ts';
import type { RunCommand } from '../grammar/command.ts';
import { runCommandLine } from '../grammar/command-line.ts';
import { exitOnProblems } from '../grammar/exit-on-problems.ts';
import { VERSION } from '../process/version.ts';

export const runManifests: RunCommand = async (words, command) => {
  return await runCommandLine(words, { ...command, flags: MANIFESTS_FLAGS }, async (flags) => {
    const plan = exitOnProblems(command.name, planFromManifestsFlags(flags, VERSION));
    if (flags.image === '') process.stderr.write(describeAssumedImage(plan));
    // Loaded late: a YAML parser would keep memory in a server.
    const { printManifests } = await import('./print-manifests.ts');
    process.stdout.write(printManifests(plan));
  });
};

/** Standard output is for kubectl. */
function describeAssumedImage({ image }: ManifestsPlan): string {
  return `portolan manifests: --image is empty: ${image}, which no registry has. Import it on each node (portolan image), or give --image.\n`;
}
