/**
 * The flags of exechealthz, as that program takes them: each `-cmd` belongs to the `-url` in the same place.
 */
import type { LogLevel } from '../../ground/log.ts';
import { type FlagKinds, type GivenFlags, readGoFlags } from '../go-flags.ts';
import { readLogLevel } from '../klog-flags.ts';
import type { Problem } from '../problem.ts';
import { ValueReader } from '../values.ts';
import type { CheckPlan, HealthzPlan } from './plan.ts';

export type HealthzReading =
  | { readonly kind: 'help' | 'version' }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] }
  | { readonly kind: 'good'; readonly plan: HealthzPlan; readonly logLevel: LogLevel };

const KINDS: FlagKinds = new Map([
  ...['cmd', 'url', 'port', 'period', 'latency', 'timeout'].map((name) => [name, 'value'] as const),
  ...['quiet', 'output', 'version'].map((name) => [name, 'switch'] as const),
]);
const REMEDY = "See 'portolan healthz --help' for those there are.";
const DEFAULT_COMMAND = 'echo healthz';
const DEFAULT_PATH = '/healthz';
const PERIOD = 2_000;
const LATENCY = 30_000;
const PORT = { least: 0, most: 65_535, of: 'a port' };
const PATH = /^\/[A-Za-z0-9._~!$&'()*+,;=:@%\-/]*$/;

/** @param words the command line behind the command */
export function readHealthzFlags(words: readonly string[]): HealthzReading {
  const read = new ValueReader();
  const given = readGoFlags(words, { kinds: KINDS, dashes: '-', remedy: REMEDY }, read);
  if (given === 'help') return { kind: 'help' };
  if (given.switch('version') === true) return { kind: 'version' };
  for (const word of [...given.words, ...given.behind])
    read.complain(word, 'unexpected argument', undefined, 'Give flags only, and a command in quotes.');
  const latency = readTime('latency', given, read, LATENCY);
  const plan: HealthzPlan = {
    checks: readChecks(given, read),
    port: read.integer('-port', given.last('port'), PORT, 8_080),
    period: readTime('period', given, read, PERIOD),
    latency,
    // 0 means none in the original, and a command that hangs is then left to hang; here its result is too old by then.
    timeout: read.duration('-timeout', given.last('timeout'), 0) || latency,
    showsOutput: given.switch('output') ?? false,
  };
  const verbosity = readLogLevel(given, read);
  const logLevel = given.switch('quiet') === true ? 'warn' : verbosity;
  const { problems } = read;
  return problems.length === 0 ? { kind: 'good', plan, logLevel } : { kind: 'bad', problems };
}

function readChecks(given: GivenFlags, read: ValueReader): readonly CheckPlan[] {
  const commands = given.has('cmd') ? given.all('cmd') : [DEFAULT_COMMAND];
  const paths = given.has('url') ? given.all('url') : [DEFAULT_PATH];
  if (commands.length !== paths.length)
    read.complain(
      '-cmd and -url',
      'not as many of one as of the other',
      `${commands.length} and ${paths.length}`,
      'Give each -cmd a -url; they belong together in their order.',
    );
  for (const [index, path] of paths.entries()) {
    if (!PATH.test(path)) read.complain('-url', 'not a path', path, `Give one such as ${DEFAULT_PATH}.`);
    else if (paths.indexOf(path) < index)
      read.complain('-url', 'given twice', path, 'Give each -cmd a path of its own.');
  }
  return paths.map((path, index) => ({ path, command: commands[index] ?? DEFAULT_COMMAND }));
}

/** A duration that is not 0. */
function readTime(
  name: 'period' | 'latency',
  given: GivenFlags,
  read: ValueReader,
  fallback: number,
): number {
  const value = read.duration(`-${name}`, given.last(name), fallback);
  if (value > 0) return value;
  read.complain(
    `-${name}`,
    'no time at all',
    given.last(name),
    `Give more than 0, as in ${fallback / 1000}s.`,
  );
  return fallback;
}
