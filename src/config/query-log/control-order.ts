/**
 * Orders to a running server, as lines of words on its control socket:
 *
 *     status
 *     log-level debug
 *     query-log off
 *     query-log on file=/var/log/queries format=json sample=10 zone=shop.svc.cluster.local rcode=NXDOMAIN client=10.244.1.0/24
 */
import { LOG_LEVELS, type LogLevel } from '../../base/log.ts';
import { fileOf, type QueryLogPlan, STANDARD_OUTPUT } from '../server/query-log-plan.ts';
import type { Checked } from '../values/problem.ts';
import { ValueReader } from '../values/value-reader.ts';
import { readQueryLogSettings } from './read-settings.ts';

export type ControlOrder =
  | { readonly kind: 'status' }
  | { readonly kind: 'log-level'; readonly level: LogLevel }
  /** Undefined: no query log. */
  | { readonly kind: 'query-log'; readonly plan: QueryLogPlan | undefined };

export const ORDERS = ['status', 'log-level', 'query-log'] as const;
const SETTINGS = ['file', 'format', 'sample', 'zone', 'rcode', 'client'] as const;

type Setting = (typeof SETTINGS)[number];

/** @param format the format unless the order names one */
export function readControlOrder(
  [name, ...words]: readonly string[],
  format: QueryLogPlan['settings']['format'],
): Checked<ControlOrder> {
  const read = new ValueReader();
  const value = readOrder(read, read.choice('order', name ?? '', ORDERS, 'status'), words, format);
  return read.problems.length === 0 ? { kind: 'good', value } : { kind: 'bad', problems: read.problems };
}

function readOrder(
  read: ValueReader,
  name: (typeof ORDERS)[number],
  words: readonly string[],
  format: QueryLogPlan['settings']['format'],
): ControlOrder {
  const [first = '', ...rest] = words;
  switch (name) {
    case 'status':
      refuse(read, words);
      return { kind: 'status' };
    case 'log-level':
      refuse(read, rest);
      return { kind: 'log-level', level: read.choice('log-level', first, LOG_LEVELS, 'info') };
    case 'query-log': {
      const isOn = read.choice('query-log', first, ['on', 'off'], 'off') === 'on';
      if (isOn) return { kind: 'query-log', plan: readPlan(read, rest, format) };
      refuse(read, rest);
      return { kind: 'query-log', plan: undefined };
    }
  }
}

function refuse(read: ValueReader, words: readonly string[]): void {
  const [first] = words;
  if (first !== undefined) read.addProblem('order', 'unexpected word', first, 'Leave it out.');
}

function readPlan(
  read: ValueReader,
  words: readonly string[],
  format: QueryLogPlan['settings']['format'],
): QueryLogPlan {
  const given = new Map<Setting, string[]>(SETTINGS.map((setting) => [setting, []]));
  for (const word of words) {
    const end = word.indexOf('=');
    const setting = read.choice('query-log', end < 0 ? word : word.slice(0, end), SETTINGS, 'file');
    if (end < 0)
      read.addProblem(setting, 'its value is missing', undefined, `Give one, as in ${setting}=VALUE.`);
    else given.get(setting)?.push(word.slice(end + 1));
  }
  const all = (setting: Setting) => given.get(setting) ?? [];
  const texts = {
    format: all('format').at(-1) ?? format,
    sample: all('sample').at(-1),
    zones: all('zone'),
    rcodes: all('rcode'),
    clients: all('client'),
  };
  const file = read.nonEmpty('file', all('file').at(-1), 'a path') ?? STANDARD_OUTPUT;
  return { file: fileOf(file), settings: readQueryLogSettings(read, texts, (setting) => setting) };
}
