/**
 * The command line of CoreDNS, parsed as by Go's package flag: one dash or two, values after `=` or as the next word. Parsing ends at
 * the first word that is not a flag. Portolan adds `-blocks-extra`, `-compat`, `-events`, `-metrics-compat`, `-plugin`, and the flags of the
 * autoscaler, of the dashboard and of the query log.
 */
import { FORMER_NAMES, type FormerNames } from '@portolan/server/plan/former-names.ts';
import type { QueryLogPlan } from '@portolan/server/plan/query-log-plan.ts';
import type { AutoscalerPlan } from '@portolan/server/settings/autoscaler/autoscaler-plan.ts';
import { EVENT_FLAGS, readEvents } from '@portolan/server/settings/events/event-flags.ts';
import type { EventsPlan } from '@portolan/server/settings/events/events-plan.ts';
import { type Flag, listChoices } from '@portolan/server/settings/flags/flag.ts';
import { FlagReader } from '@portolan/server/settings/flags/flag-reader.ts';
import { formatFlagRow, formatRows } from '@portolan/server/settings/flags/flag-text.ts';
import { parseGoBoolean } from '@portolan/server/settings/flags/go-flags.ts';
import {
  OWN_DASHBOARD_FLAGS,
  type OwnDashboardPlan,
  readOwnDashboard,
} from '@portolan/server/settings/own-dashboard/own-dashboard.ts';
import { QUERY_LOG_FLAGS } from '@portolan/server/settings/query-log/query-log-flags.ts';
import { readCorefileQueryLog } from '@portolan/server/settings/query-log/read-settings.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { AUTOSCALE_FLAGS } from '../../serve/settings/autoscale-flags.ts';
import { readAutoscale } from '../../serve/settings/read-autoscale.ts';
import { type Compat, DEFAULT_COMPAT, parseCompat } from './compat.ts';
import { BLOCKS_EXTRA_FLAG, COMPAT_FLAGS, PLUGIN_FLAG } from './compat-flags.ts';

export type CoreDnsCommand =
  | {
      readonly kind: 'run';
      /** A path or `stdin`; undefined: `Corefile` in the working directory if it exists, otherwise the built-in default. */
      readonly conf: string | undefined;
      /** A file whose directives join server blocks of the Corefile; undefined: no file. */
      readonly blocksExtra: string | undefined;
      /** The port for keys without a port, as given. */
      readonly port: string;
      readonly pidFile: string | undefined;
      /** Whether to omit zones and version from the start-up output. */
      readonly isQuiet: boolean;
      readonly compat: Compat;
      /** The CoreDNS version whose former metric names are shown beside the current ones. */
      readonly metricsCompat: FormerNames | undefined;
      /** Plugins of others: `NAME=MODULE[:before=WORD]`. */
      readonly plugins: readonly string[];
      /** Undefined: no autoscaling. */
      readonly autoscaler: AutoscalerPlan | undefined;
      /** Undefined: no Kubernetes Events. */
      readonly events: EventsPlan | undefined;
      /** Undefined: the server shows no dashboard. */
      readonly dashboard: OwnDashboardPlan | undefined;
      /** Undefined: queries are not logged, unless the Corefile says so. */
      readonly queryLog: QueryLogPlan | undefined;
    }
  | { readonly kind: 'version' | 'plugins' }
  /** Print the text to standard error and exit. */
  | { readonly kind: 'end'; readonly text: string; readonly exitCode: 0 | 1 | 2 };

type EndedCommand = Extract<CoreDnsCommand, { readonly kind: 'end' }>;

const DEFAULT_PORT = '53';
const NO_FINDINGS = {
  fault: 'has no effect while -compat restores findings: the server looks for no findings',
  remedy: 'Take it out, or keep findings, as in -compat=1.14,-findings.',
};
const PORT_TEXT = { kind: 'text', of: 'a port' } as const;

/** CoreDNS's flags and Portolan's additions for the server, in the order in which Go prints them. */
const SERVER_FLAGS = [
  BLOCKS_EXTRA_FLAG,
  COMPAT_FLAGS[0],
  {
    name: 'conf',
    valueName: 'path',
    value: { kind: 'file' },
    default: 'Corefile',
    help: 'Corefile to load',
  },
  { name: 'dns.port', valueName: 'port', value: PORT_TEXT, default: DEFAULT_PORT, help: 'default port' },
  COMPAT_FLAGS[1],
  { name: 'p', valueName: 'port', value: PORT_TEXT, default: DEFAULT_PORT, help: 'default port' },
  { name: 'pidfile', valueName: 'path', value: { kind: 'file' }, help: 'path to write pid file' },
  PLUGIN_FLAG,
  { name: 'plugins', value: 'none', help: 'list installed plugins' },
  { name: 'quiet', value: 'none', help: 'quiet mode (no initialization output)' },
  { name: 'version', value: 'none', help: 'show version' },
] as const satisfies readonly Flag[];

export const COREDNS_FLAGS: readonly Flag[] = [
  ...SERVER_FLAGS,
  ...AUTOSCALE_FLAGS,
  ...EVENT_FLAGS,
  ...OWN_DASHBOARD_FLAGS,
  ...QUERY_LOG_FLAGS,
];

type FlagName =
  | (typeof SERVER_FLAGS)[number]['name']
  | (typeof AUTOSCALE_FLAGS)[number]['name']
  | (typeof EVENT_FLAGS)[number]['name']
  | (typeof OWN_DASHBOARD_FLAGS)[number]['name']
  | (typeof QUERY_LOG_FLAGS)[number]['name'];

/** The flags given: the last value of each (`true` or `false` for a switch; all values of one that repeats, as lines), with its dashes. */
type Given = Map<string, { readonly dashes: string; readonly value: string }>;

const readText = (given: Given, name: FlagName): string => given.get(name)?.value ?? '';
const isOn = (given: Given, name: FlagName): boolean => readText(given, name) === 'true';

/** @param words the arguments after the command */
export function readCoreDnsFlags(words: readonly string[]): CoreDnsCommand {
  const given: Given = new Map();
  let at = 0;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    if (word === '--') {
      at += 1;
      break;
    }
    if (!/^--?[^-]/.test(word)) break;
    const taken = takeFlag(word, words[at + 1], given);
    if (typeof taken !== 'number') return taken;
    at += taken;
  }
  const rest = words.slice(at);
  if (rest.length > 0)
    return { kind: 'end', text: `extra command line arguments: [${rest.join(' ')}]\n`, exitCode: 1 };
  if (isOn(given, 'version')) return { kind: 'version' };
  if (isOn(given, 'plugins')) return { kind: 'plugins' };
  return readRun(given);
}

function readRun(given: Given): CoreDnsCommand {
  const compat = chooseCompat(readText(given, 'compat'));
  if ('exitCode' in compat) return compat;
  const metricsCompat = choose('metrics-compat', readText(given, 'metrics-compat'), FORMER_NAMES);
  if (typeof metricsCompat === 'object') return metricsCompat;
  const read = new FlagReader(
    [...AUTOSCALE_FLAGS, ...EVENT_FLAGS, ...OWN_DASHBOARD_FLAGS, ...QUERY_LOG_FLAGS],
    (name) => given.get(name)?.value.split('\n') ?? [],
    (name) => given.get(name)?.dashes ?? '-',
  );
  const autoscaler = readAutoscale(read, true);
  const events = readEvents(read, undefined, compat.restored.has('findings') ? NO_FINDINGS : undefined);
  const dashboard = readOwnDashboard(read);
  const queryLog = readCorefileQueryLog(read, compat.restored);
  if (read.problems.length > 0) {
    const text = read.problems.map((problem) => `${describeProblem(problem)}\n`).join('');
    return { kind: 'end', text, exitCode: 1 };
  }
  return {
    kind: 'run',
    conf: readText(given, 'conf') || undefined,
    blocksExtra: readText(given, 'blocks-extra') || undefined,
    port: given.get('dns.port')?.value ?? DEFAULT_PORT,
    pidFile: readText(given, 'pidfile') || undefined,
    isQuiet: isOn(given, 'quiet'),
    compat,
    metricsCompat,
    plugins: readText(given, 'plugin')
      .split('\n')
      .filter((each) => each !== ''),
    autoscaler,
    events,
    dashboard,
    queryLog,
  };
}

/** @returns how the program ends for a wrong value */
function chooseCompat(text: string): Compat | EndedCommand {
  if (text === '') return DEFAULT_COMPAT;
  const reading = parseCompat(text);
  if (reading.kind === 'good') return reading.value;
  return usage(`invalid value ${JSON.stringify(text)} for flag -compat: ${reading.fault}. ${reading.remedy}`);
}

/** @returns the chosen value, undefined if the flag is not given, or how the program ends */
function choose<Value extends string>(
  name: string,
  text: string,
  values: readonly Value[],
): Value | undefined | CoreDnsCommand {
  const chosen = values.find((value) => value === text);
  if (chosen !== undefined || text === '') return chosen;
  return usage(`invalid value ${JSON.stringify(text)} for flag -${name}: one of ${values.join(', ')}`);
}

/** @returns the number of words taken, or how the program ends */
function takeFlag(word: string, following: string | undefined, given: Given): 1 | 2 | CoreDnsCommand {
  const [, dashes = '-', name = '', , inline] = /^(--?)([^=]*)(=(.*))?$/s.exec(word) ?? [];
  if (name === '') return usage(`bad flag syntax: ${word}`);
  const flag = COREDNS_FLAGS.find((each) => each.name === name);
  if (flag === undefined) {
    if (name === 'help' || name === 'h') return { kind: 'end', text: fullHelpText(), exitCode: 0 };
    return usage(`flag provided but not defined: -${name}`);
  }
  if (flag.value === 'none') {
    const value = parseGoBoolean(inline ?? 'true');
    if (value === undefined)
      return usage(`invalid boolean value ${JSON.stringify(inline)} for -${name}: parse error`);
    given.set(name, { dashes, value: String(value) });
    return 1;
  }
  const value = inline ?? flag.impliedValue ?? following;
  if (value === undefined) return usage(`flag needs an argument: -${name}`);
  // The port has two flags.
  const key = name === 'p' ? 'dns.port' : name;
  const before = flag.repeats === true ? given.get(key)?.value : undefined;
  given.set(key, { dashes, value: before === undefined ? value : `${before}\n${value}` });
  return inline === undefined && flag.impliedValue === undefined ? 2 : 1;
}

function usage(fault: string): EndedCommand {
  return { kind: 'end', text: `${fault}\n${helpText()}`, exitCode: 2 };
}

/** The usage text as Go prints it. */
function helpText(): string {
  return `Usage of coredns:\n${SERVER_FLAGS.map(goLines).join('')}`;
}

function fullHelpText(): string {
  const list = (flags: readonly Flag[]) => formatRows(flags.map((flag) => formatFlagRow(flag, '-')));
  return `${helpText()}\nAutoscaling:\n${list(AUTOSCALE_FLAGS)}\nEvents:\n${list(EVENT_FLAGS)}\nDashboard:\n${list(OWN_DASHBOARD_FLAGS)}\nQuery log:\n${list(QUERY_LOG_FLAGS)}`;
}

function goLines(flag: Flag): string {
  const choices = listChoices(flag);
  const listed = choices.length === 0 ? '' : `: ${choices.join(', ')}`;
  const fallback = flag.value === 'none' || flag.default === undefined ? '' : ` (default "${flag.default}")`;
  const help = `${flag.help.charAt(0).toUpperCase()}${flag.help.slice(1)}${listed}${fallback}`;
  return `  -${flag.name}${flag.value === 'none' ? '' : ' string'}\n    \t${help}\n`;
}
