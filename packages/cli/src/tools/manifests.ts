/**
 * `portolan manifests`: the shipped manifests, filled in for a cluster, for `kubectl apply -f -`.
 */
import {
  MANIFESTS_FLAGS,
  type ManifestsFlags,
  type ManifestsPlan,
  planFromManifestsFlags,
} from '@portolan/ops/manifests/settings/manifests-flags.ts';
import type { RunCommand } from '../grammar/command.ts';
import { exitOnProblems } from '../grammar/exit-on-problems.ts';
import { createParser, runParser } from '../grammar/parser.ts';
import { VERSION } from '../process/version.ts';

export const runManifests: RunCommand = async (words, command) => {
  const parser = createParser(command, MANIFESTS_FLAGS).usage('[flags]');
  parser.action(async (flags: ManifestsFlags) => {
    const plan = exitOnProblems(command.name, planFromManifestsFlags(flags, VERSION));
    if (flags.image === '') process.stderr.write(describeAssumedImage(plan));
    // Loaded late: a YAML parser would keep memory in a server.
    const { printManifests } = await import('./print-manifests.ts');
    process.stdout.write(printManifests(plan));
  });
  return await runParser(parser, words);
};

/** Standard output is for kubectl. */
function describeAssumedImage({ image }: ManifestsPlan): string {
  return `portolan manifests: --image is empty: ${image}, which no registry has. Import it on each node (portolan image), or give --image.\n`;
}
