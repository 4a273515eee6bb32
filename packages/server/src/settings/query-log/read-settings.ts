/**
 * Reads the plan of a query log from flags, from orders on the control socket, or from a feature of a Corefile.
 */
import { type AddressRange, parseAddressRange } from '@portolan/dns/address-range.ts';
import { rcodeName } from '@portolan/dns/mnemonics.ts';
import type { RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import {
  LOG_FORMATS,
  type LogFormat,
  type QueryLogPlan,
  type QueryLogSettings,
  STANDARD_OUTPUT,
} from '../../plan/query-log-plan.ts';
import type { NameIn } from '../flags/flag-reader.ts';
import { lastSetting, readSettingWords } from '../values/setting-words.ts';
import type { ValueReader } from '../values/value-reader.ts';
import { QUERY_LOG_FLAGS } from './query-log-flags.ts';

export interface QueryLogTexts {
  readonly format: string | undefined;
  readonly sample: string | undefined;
  readonly zones: readonly string[];
  readonly rcodes: readonly string[];
  readonly clients: readonly string[];
}

const SAMPLES = { min: 1, max: 1_000_000, of: 'a number of queries' };
/** The response codes of the header, which have four bits. */
const RCODES: readonly string[] = Array.from({ length: 16 }, (_, rcode) => rcodeName(rcode));

/** The flag reader of any server. */
export interface QueryLogReader extends ValueReader {
  value(name: 'query-log'): string | undefined;
  text(name: QueryLogFlag): string | undefined;
  texts(name: QueryLogFlag): readonly string[];
  shown(name: QueryLogFlag): string;
  requireWith(name: QueryLogFlag, other: QueryLogFlag, remedy: string): void;
}

type QueryLogFlag = NameIn<typeof QUERY_LOG_FLAGS>;

/** @param format unless a flag names one @returns undefined if no query log is wanted */
export function readQueryLog(read: QueryLogReader, format: LogFormat): QueryLogPlan | undefined {
  for (const { name } of QUERY_LOG_FLAGS)
    if (name !== 'query-log') read.requireWith(name, 'query-log', 'give');
  const file = read.value('query-log');
  const texts = {
    format: read.text('query-log-format') ?? format,
    sample: read.text('query-log-sample'),
    zones: read.texts('query-log-zone'),
    rcodes: read.texts('query-log-rcode'),
    clients: read.texts('query-log-client'),
  };
  const settings = readQueryLogSettings(read, texts, (name) => read.shown(SETTING_FLAGS[name]));
  return file === undefined ? undefined : { file: parseLogFile(file), settings };
}

const OWN_DIRECTIVES_REMEDY =
  'Take it out, use the plugin log, or keep own-directives, as in -compat=1.14,-own-directives.';

/** The same for servers of a Corefile. @param restored with `own-directives`, a query log is refused: CoreDNS has none */
export function readCorefileQueryLog(
  read: QueryLogReader,
  restored: RestoredDeviations,
): QueryLogPlan | undefined {
  const plan = readQueryLog(read, 'text');
  const fault = 'cannot be given while -compat restores own-directives: CoreDNS does not have it';
  if (plan !== undefined && restored.has('own-directives'))
    read.addProblem(read.shown('query-log'), fault, undefined, OWN_DIRECTIVES_REMEDY);
  return plan;
}

const SETTING_FLAGS = {
  format: 'query-log-format',
  sample: 'query-log-sample',
  zone: 'query-log-zone',
  rcode: 'query-log-rcode',
  client: 'query-log-client',
} as const;

export type QueryLogSetting = keyof typeof SETTING_FLAGS;

/** @param words as in `zone=shop.svc.cluster.local rcode=NXDOMAIN` @param format unless a word names one */
export function readQueryLogWords(
  read: ValueReader,
  words: readonly string[],
  format: LogFormat,
): QueryLogPlan {
  const given = readSettingWords(read, 'query-log', words, ['file', ...Object.keys(SETTING_FLAGS)]);
  const texts = {
    format: lastSetting(given, 'format') ?? format,
    sample: lastSetting(given, 'sample'),
    zones: given.get('zone') ?? [],
    rcodes: given.get('rcode') ?? [],
    clients: given.get('client') ?? [],
  };
  const file = read.nonEmpty('file', lastSetting(given, 'file'), 'a path') ?? STANDARD_OUTPUT;
  return { file: parseLogFile(file), settings: readQueryLogSettings(read, texts, (setting) => setting) };
}

/** Undefined: standard output. */
function parseLogFile(text: string): string | undefined {
  return text === STANDARD_OUTPUT ? undefined : text;
}

/** @param where maps the short name of a setting (`zone`) to its name in messages */
export function readQueryLogSettings(
  read: ValueReader,
  texts: QueryLogTexts,
  where: (name: QueryLogSetting) => string,
): QueryLogSettings {
  return {
    format: read.choice(where('format'), texts.format, LOG_FORMATS, 'text'),
    sample: read.integer(where('sample'), texts.sample, SAMPLES, 1),
    zones: texts.zones.map((text) => read.zone(where('zone'), text, 'cluster.local.')),
    rcodes: texts.rcodes.map((text) => readRcode(read, where('rcode'), text)),
    clients: texts.clients
      .map((text) => readPrefix(read, where('client'), text))
      .filter((range) => range !== undefined),
  };
}

function readRcode(read: ValueReader, where: string, text: string): number {
  const rcode = RCODES.indexOf(text.toUpperCase());
  if (rcode < 0)
    read.addProblem(where, 'not a response code', text, 'Give one such as NXDOMAIN or SERVFAIL.');
  return Math.max(0, rcode);
}

function readPrefix(read: ValueReader, where: string, text: string): AddressRange | undefined {
  const range = parseAddressRange(text);
  if (range === undefined)
    read.addProblem(where, 'not an address prefix', text, 'Give one such as 10.244.1.0/24 or 2001:db8::/64.');
  return range;
}
