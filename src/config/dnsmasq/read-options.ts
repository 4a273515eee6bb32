/**
 * A dnsmasq command line and all files that it leads to, made into a plan; or everything that is wrong with them.
 */
import { ROOT } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';
import { readArguments } from './arguments.ts';
import { findConflicts, findStartConflicts } from './conflicts.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { type DnsmasqProblem, Findings, type Note } from './findings.ts';
import { finishPlan } from './finish.ts';
import { readName } from './names.ts';
import { octetsOfArgument } from './octets.ts';
import { OptionReading } from './option-reading.ts';
import type { DnsmasqPlan } from './plan.ts';
import { resolveDomain } from './resolv-domain.ts';
import type { ConfigSources } from './sources.ts';

export type DnsmasqReading =
  | { readonly kind: 'help' | 'version' }
  | {
      readonly kind: 'bad';
      readonly problems: readonly DnsmasqProblem[];
      readonly notes: readonly Note[];
      /** What dnsmasq would exit with: that of the first problem. */
      readonly exitCode: ExitCode;
    }
  | {
      readonly kind: 'good';
      readonly plan: DnsmasqPlan;
      readonly notes: readonly Note[];
      /** `--test`: say `SYNTAX_OK` and exit instead of starting. */
      readonly test: boolean;
    };

/** @param words the command line without the program's name */
export function readDnsmasqOptions(words: readonly string[], sources: ConfigSources): DnsmasqReading {
  const asked = askedFor(words);
  if (asked !== undefined) return { kind: asked };
  const reading = new OptionReading(sources);
  reading.readCommandLine(words);
  const { draft, findings } = reading;
  findConflicts(draft, findings);
  const domain = resolveDomain(draft, sources, findings);
  const late = new Findings();
  findStartConflicts(draft, late);
  if (draft.test)
    for (const { where, fault } of late.problems) findings.note(where, `It will not start: ${fault}.`);
  else findings.problems.push(...late.problems);
  if (draft.resolv.ignored && !draft.resolv.default)
    findings.note('--resolv-file', 'It has no effect beside --no-resolv.');
  const plan = finishPlan(draft, hostKey(sources.hostName()), domain, findings);
  const { problems, notes } = findings;
  return problems.length === 0
    ? { kind: 'good', plan, notes, test: draft.test }
    : { kind: 'bad', problems, notes, exitCode: problems[0]?.exitCode ?? EXIT.BAD_CONFIGURATION };
}

/** `--help` and `--version` win over all else, the first of them. */
function askedFor(words: readonly string[]): 'help' | 'version' | undefined {
  for (const argument of readArguments(words)) {
    if (argument.kind === 'wrong') continue;
    const { name } = argument.option;
    if (name === 'help' || name === 'version') return name;
  }
  return undefined;
}

function hostKey(name: string): NameKey {
  const reading = readName(octetsOfArgument(name));
  return reading.kind === 'name' ? reading.name : ROOT;
}
