/**
 * The command line of CoreDNS, as Go's package flag takes it: one dash or two, values behind `=` or as the next word, and no
 * flags behind the first word that is none. Beside its flags there are some of our own: `-compat`,
 * `-metrics-compat`, and those of the autoscaler.
 */
import type { AutoscalerPlan } from '../autoscaler/autoscaler-plan.ts';
import { FlagReader } from '../flags/flag-reader.ts';
import { formatRows, rowOf } from '../flags/flag-text.ts';
import { parseGoBoolean } from '../flags/go-flags.ts';
import { AUTOSCALE_FLAGS } from '../serve/autoscale-flags.ts';
import { readAutoscale } from '../serve/read-autoscale.ts';
import { FORMER_NAMES, type FormerNames } from '../server/former-names.ts';
import { describeProblem } from '../values/problem.ts';
import { COMPAT_FLAGS } from './compat-flags.ts';
import { ORDER_PROFILES, type OrderProfile } from './plugin-order.ts';

export type CoreDnsCommand =
  | {
      readonly kind: 'run';
      /** The Corefile, `stdin`, or nothing: `Corefile` in the working folder if it is there, else the built-in default. */
      readonly conf: string | undefined;
      /** The port of keys that name none, as given. */
      readonly port: string;
      readonly pidFile: string | undefined;
      /** Neither zones nor version are printed at start. */
      readonly isQuiet: boolean;
      /** The version that is kept to in everything, also where we differ on purpose. */
      readonly compat: OrderProfile | undefined;
      /** The version whose names of metrics are shown beside those of today. */
      readonly metricsCompat: FormerNames | undefined;
      /** Undefined: nothing is scaled. */
      readonly autoscaler: AutoscalerPlan | undefined;
    }
  | { readonly kind: 'version' | 'plugins' }
  /** The text goes to standard error, then the program ends. */
  | { readonly kind: 'end'; readonly text: string; readonly exitCode: 0 | 1 | 2 };

const DEFAULT_PORT = '53';

type TextName = 'conf' | 'port' | 'pidfile' | 'compat' | 'metricsCompat';
type SwitchName = 'plugins' | 'quiet' | 'version';
type Values = Record<TextName, string> &
  Record<SwitchName, boolean> & {
    /** Of those of the autoscaler, the ones given, with their dashes as they were written. */
    readonly own: Map<string, { readonly dashes: string; readonly value: string }>;
  };

type CoreDnsFlag = { readonly help: string } & (
  | { readonly sets: TextName; readonly isSwitch: false }
  | { readonly sets: SwitchName; readonly isSwitch: true }
);

/** As CoreDNS writes its own. */
function helpOf(name: (typeof COMPAT_FLAGS)[number]['name']): string {
  return COMPAT_FLAGS.flatMap((flag) =>
    flag.name === name
      ? `${flag.help.charAt(0).toUpperCase()}${flag.help.slice(1)}: ${flag.value.choices.join(', ')}`
      : [],
  ).join('');
}

/** By name: what it sets, and its line of the help. Two names set the port. */
const FLAGS: Readonly<Record<string, CoreDnsFlag>> = {
  compat: { sets: 'compat', isSwitch: false, help: helpOf('compat') },
  conf: { sets: 'conf', isSwitch: false, help: 'Corefile to load (default "Corefile")' },
  'dns.port': { sets: 'port', isSwitch: false, help: 'Default port (default "53")' },
  'metrics-compat': { sets: 'metricsCompat', isSwitch: false, help: helpOf('metrics-compat') },
  p: { sets: 'port', isSwitch: false, help: 'Default port (default "53")' },
  pidfile: { sets: 'pidfile', isSwitch: false, help: 'Path to write pid file' },
  plugins: { sets: 'plugins', isSwitch: true, help: 'List installed plugins' },
  quiet: { sets: 'quiet', isSwitch: true, help: 'Quiet mode (no initialization output)' },
  version: { sets: 'version', isSwitch: true, help: 'Show version' },
};

/** @param words The command line behind the command. */
export function readCoreDnsFlags(words: readonly string[]): CoreDnsCommand {
  const values: Values = {
    conf: '',
    port: DEFAULT_PORT,
    pidfile: '',
    compat: '',
    metricsCompat: '',
    plugins: false,
    quiet: false,
    version: false,
    own: new Map(),
  };
  let at = 0;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    if (word === '--') {
      at += 1;
      break;
    }
    if (!/^--?[^-]/.test(word)) break;
    const taken = takeFlag(word, words[at + 1], values);
    if (typeof taken !== 'number') return taken;
    at += taken;
  }
  const rest = words.slice(at);
  if (rest.length > 0)
    return { kind: 'end', text: `extra command line arguments: [${rest.join(' ')}]\n`, exitCode: 1 };
  if (values.version) return { kind: 'version' };
  if (values.plugins) return { kind: 'plugins' };
  return readRun(values);
}

function readRun(values: Values): CoreDnsCommand {
  const { conf, port, pidfile, quiet } = values;
  const compat = choose('compat', values.compat, ORDER_PROFILES);
  if (typeof compat === 'object') return compat;
  const metricsCompat = choose('metrics-compat', values.metricsCompat, FORMER_NAMES);
  if (typeof metricsCompat === 'object') return metricsCompat;
  const read = new FlagReader(
    AUTOSCALE_FLAGS,
    (name) => [values.own.get(name)?.value ?? []].flat(),
    (name) => values.own.get(name)?.dashes ?? '-',
  );
  const autoscaler = readAutoscale(read, true);
  if (read.problems.length > 0) {
    const text = read.problems.map((problem) => `${describeProblem(problem)}\n`).join('');
    return { kind: 'end', text, exitCode: 1 };
  }
  return {
    kind: 'run',
    conf: conf === '' ? undefined : conf,
    port,
    pidFile: pidfile === '' ? undefined : pidfile,
    isQuiet: quiet,
    compat,
    metricsCompat,
    autoscaler,
  };
}

/** @returns one of the values, undefined for none, or how the program ends */
function choose<Value extends string>(
  name: string,
  text: string,
  values: readonly Value[],
): Value | undefined | CoreDnsCommand {
  const chosen = values.find((value) => value === text);
  if (chosen !== undefined || text === '') return chosen;
  return usage(`invalid value ${JSON.stringify(text)} for flag -${name}: one of ${values.join(', ')}`);
}

/** @returns how many words were taken, or how the program ends */
function takeFlag(word: string, following: string | undefined, values: Values): 1 | 2 | CoreDnsCommand {
  const [, dashes = '-', name = '', , inline] = /^(--?)([^=]*)(=(.*))?$/s.exec(word) ?? [];
  if (name === '') return usage(`bad flag syntax: ${word}`);
  const flag = Object.hasOwn(FLAGS, name) ? FLAGS[name] : undefined;
  if (flag === undefined) return takeOther({ dashes, name, inline }, following, values);
  if (flag.isSwitch) {
    const value = parseGoBoolean(inline ?? 'true');
    if (value === undefined)
      return usage(`invalid boolean value ${JSON.stringify(inline)} for -${name}: parse error`);
    values[flag.sets] = value;
    return 1;
  }
  if (inline === undefined && following === undefined) return usage(`flag needs an argument: -${name}`);
  values[flag.sets] = inline ?? following ?? '';
  return inline === undefined ? 2 : 1;
}

/** One of our own, or a request for help. */
function takeOther(
  {
    dashes,
    name,
    inline,
  }: { readonly dashes: string; readonly name: string; readonly inline: string | undefined },
  following: string | undefined,
  { own }: Values,
): 1 | 2 | CoreDnsCommand {
  if (name === 'help' || name === 'h')
    return {
      kind: 'end',
      text: `${helpText()}\nAutoscaling:\n${OWN_HELP}`,
      exitCode: 0,
    };
  if (!AUTOSCALE_FLAGS.some((flag) => flag.name === name))
    return usage(`flag provided but not defined: -${name}`);
  const value = inline ?? following;
  if (value === undefined) return usage(`flag needs an argument: -${name}`);
  own.set(name, { dashes, value });
  return inline === undefined ? 2 : 1;
}

const OWN_HELP = formatRows(AUTOSCALE_FLAGS.map((flag) => rowOf(flag, '-')));

function usage(fault: string): CoreDnsCommand {
  return { kind: 'end', text: `${fault}\n${helpText()}`, exitCode: 2 };
}

function helpText(): string {
  const lines = Object.entries(FLAGS).map(
    ([name, { isSwitch, help }]) => `  -${name}${isSwitch ? '' : ' string'}\n    \t${help}\n`,
  );
  return `Usage of coredns:\n${lines.join('')}`;
}
