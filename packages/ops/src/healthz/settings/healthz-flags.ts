/**
 * The flags of exechealthz, read as that program reads them: each `-cmd` belongs to the `-url` at the same position.
 */
import type { LogLevel } from '@portolan/kernel/base/log.ts';
import type { Flag } from '@portolan/server/settings/flags/flag.ts';
import type { FlagReader } from '@portolan/server/settings/flags/flag-reader.ts';
import { readLogLevel } from '@portolan/server/settings/flags/klog-flags.ts';
import { readProgramFlags } from '@portolan/server/settings/flags/program-flags.ts';
import type { Problem } from '@portolan/server/settings/values/problem.ts';
import type { HealthzCheck, HealthzPlan } from './healthz-plan.ts';

export type HealthzReading =
  | { readonly kind: 'help' | 'version' }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] }
  | { readonly kind: 'good'; readonly plan: HealthzPlan; readonly logLevel: LogLevel };

const DURATION = { kind: 'duration' } as const;

/** Without the klog flags. */
export const HEALTHZ_FLAGS = [
  {
    name: 'cmd',
    valueName: 'command',
    value: { kind: 'text', of: 'a command' },
    default: 'echo healthz',
    repeats: true,
    help: 'command, run by /bin/sh; exit code 0 means healthy',
  },
  {
    name: 'url',
    valueName: 'path',
    value: { kind: 'text', of: 'a path' },
    default: '/healthz',
    repeats: true,
    help: 'HTTP path that answers for the command in the same position',
  },
  {
    name: 'port',
    valueName: 'port',
    value: { kind: 'integer', min: 0, max: 65_535, of: 'a port' },
    default: '8080',
    help: 'HTTP port',
  },
  { name: 'period', valueName: 'duration', value: DURATION, default: '2s', help: 'interval between runs' },
  {
    name: 'latency',
    valueName: 'duration',
    value: DURATION,
    default: '30s',
    help: 'age from which a result means unhealthy',
  },
  {
    name: 'timeout',
    valueName: 'duration',
    value: DURATION,
    defaultNote: 'that of -latency',
    help: 'time after which a running command is killed',
  },
  { name: 'output', value: 'none', help: 'answer with the output of the command instead of ok' },
  { name: 'quiet', value: 'none', help: 'log problems only' },
  { name: 'version', value: 'none', help: 'print the version' },
] as const satisfies readonly Flag[];

type HealthzFlagReader = FlagReader<typeof HEALTHZ_FLAGS>;

const REMEDY = "See 'portolan healthz --help' for those there are.";
const EXAMPLE_PATH = '/healthz';
const PATH = /^\/[A-Za-z0-9._~!$&'()*+,;=:@%\-/]*$/;

/** @param words the arguments after the command */
export function readHealthzFlags(words: readonly string[]): HealthzReading {
  const wordRemedy = 'Give flags only, and a command in quotes.';
  const flags = readProgramFlags(words, HEALTHZ_FLAGS, { dashes: '-', remedy: REMEDY, wordRemedy });
  if (flags.kind !== 'flags') return flags;
  const { given, read } = flags;
  const { problems } = read;
  const latency = readTime('latency', read);
  const plan: HealthzPlan = {
    checks: readChecks(read),
    port: read.value('port'),
    period: readTime('period', read),
    latency,
    // In the original, 0 means no timeout and a hanging command is never killed. Here the latency is then the timeout.
    timeout: read.value('timeout') || latency,
    showsOutput: read.isOn('output'),
  };
  const verbosity = readLogLevel(given.last('v'), read);
  const logLevel = read.isOn('quiet') ? 'warn' : verbosity;
  return problems.length === 0 ? { kind: 'good', plan, logLevel } : { kind: 'bad', problems };
}

function readChecks(read: HealthzFlagReader): readonly HealthzCheck[] {
  const commands = read.texts('cmd');
  const paths = read.texts('url');
  if (commands.length !== paths.length)
    read.addProblem(
      '-cmd and -url',
      'not as many of one as of the other',
      `${commands.length} and ${paths.length}`,
      'Give each -cmd a -url; they belong together in their order.',
    );
  for (const [index, path] of paths.entries()) {
    if (!PATH.test(path)) read.addProblem('-url', 'not a path', path, `Give one such as ${EXAMPLE_PATH}.`);
    else if (paths.indexOf(path) < index)
      read.addProblem('-url', 'given twice', path, 'Give each -cmd a path of its own.');
  }
  return paths.map((path, index) => ({ path, command: commands[index] ?? '' }));
}

/** A duration that is not 0. */
function readTime(name: 'period' | 'latency', read: HealthzFlagReader): number {
  const value = read.value(name);
  if (value === 0)
    read.addProblem(`-${name}`, 'no time at all', read.text(name), 'Give more than 0, as in 2s.');
  return value;
}
