/**
 * `portolan manifests`: the shipped manifests, filled in for a cluster, for `kubectl apply -f -`.
 */
import type { Command } from 'commander';
import {
  MANIFESTS_FLAGS,
  type ManifestsFlags,
  type ManifestsPlan,
  planFromManifestsFlags,
} from '../config/manifests/manifests-flags.ts';
import { describeProblem } from '../config/values/problem.ts';
import { COMMAND_SUMMARIES } from './command-summaries.ts';
import { ExitError } from './exit.ts';
import { addOptions } from './options.ts';
import { VERSION } from './version.ts';

export function addManifestsCommand(program: Command): void {
  const command = program.command('manifests').description(COMMAND_SUMMARIES.manifests).usage('[flags]');
  addOptions(command, MANIFESTS_FLAGS);
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
