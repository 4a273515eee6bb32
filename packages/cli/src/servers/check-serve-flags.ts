/**
 * The flags of `serve` to its plan, or all problems of the command line at once.
 */
import type { ServeFlags } from '@portolan/frontends/serve/settings/serve-flags.ts';
import type { ServePlan } from '@portolan/frontends/serve/settings/serve-options.ts';
import { planFromFlags } from '@portolan/frontends/serve/settings/serve-plan.ts';
import { countCores } from '@portolan/server/settings/cores.ts';
import type { Checked, Problem } from '@portolan/server/settings/values/problem.ts';
import { createProcessSources } from './dnsmasq-sources.ts';

/**
 * @param line what the command line says, and what is wrong with it
 * @param place where the server will run: default settings depend on it
 */
export function checkServeFlags(
  line: { readonly flags: ServeFlags; readonly problems: readonly Problem[] },
  place: { readonly terminal: boolean; readonly environment: NodeJS.ProcessEnv },
): Checked<ServePlan> {
  const checked = planFromFlags(line.flags, { cores: countCores(), ...place }, createProcessSources());
  const problems = [...line.problems, ...(checked.kind === 'bad' ? checked.problems : [])];
  return problems.length === 0 ? checked : { kind: 'bad', problems };
}
