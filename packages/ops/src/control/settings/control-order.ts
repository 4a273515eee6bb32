/**
 * Requests to a running server, as words on the command line of `portolan control` and its kin:
 *
 *     status
 *     explain cart.shop A from=10.244.1.7 ndots=2 search=shop.svc.cluster.local,svc.cluster.local resolver=musl ask
 *     lookup cart.shop.svc.cluster.local AAAA
 *     tail rcode=NXDOMAIN namespace=shop rate=100
 *     doctor watch=5s
 *     top interval=2s rows=10
 *     questions for=60s
 *     names
 *     names 3f
 *     changes rows=20
 *     accept
 *     history since=2h
 *     history from=2026-11-29T10:15:00Z to=2026-11-29T10:16:00Z
 *     cache dump shop.svc.cluster.local
 *     cache flush example.com
 *     upstream 10.0.0.2:53 off
 *     log-level debug
 *     query-log off
 *     query-log reopen
 *     query-log on file=/var/log/queries format=json sample=10 zone=shop.svc.cluster.local rcode=NXDOMAIN client=10.244.1.0/24
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';
import { parseType } from '@portolan/dns/mnemonics.ts';
import { parseKey, ROOT, tryParseName } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { LOG_LEVELS, type LogLevel } from '@portolan/kernel/base/log.ts';
import { findNearest } from '@portolan/kernel/base/nearest.ts';
import type { QueryLogPlan } from '@portolan/server/plan/query-log-plan.ts';
import { REASON_KINDS } from '@portolan/server/reasons/reason-texts.ts';
import { RESOLVER_LIBRARIES, type ResolverLibrary } from '@portolan/server/reasons/search-walk.ts';
import {
  readQueryLogSettings,
  readQueryLogWords,
} from '@portolan/server/settings/query-log/read-settings.ts';
import type { Checked } from '@portolan/server/settings/values/problem.ts';
import {
  lastSetting,
  readSettingWords,
  type Settings,
} from '@portolan/server/settings/values/setting-words.ts';
import { ValueReader } from '@portolan/server/settings/values/value-reader.ts';
import { EVENT_SOURCES } from './control-flags.ts';

export interface ExplainOrder {
  readonly kind: 'explain';
  /** As given, with or without its final dot; or an address. */
  readonly name: string;
  readonly types: readonly string[];
  /** The address of the client; undefined: any pod. */
  readonly from: string | undefined;
  /** The namespace of the client; undefined: by its address, else `default`. */
  readonly namespace: string | undefined;
  /** The name of the client's pod in this namespace; undefined: any pod. */
  readonly pod: string | undefined;
  /** Undefined: that of the pod; of any pod, that of the policy ClusterFirst. */
  readonly search: readonly string[] | undefined;
  readonly ndots: number | undefined;
  readonly resolver: ResolverLibrary;
  /** Whether to ask upstream servers what no cache has. */
  readonly asks: boolean;
}

export interface HistoryOrder {
  readonly kind: 'history';
  /** Milliseconds since 1970; undefined: without a bound. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** Milliseconds before the request, in place of `from`. */
  readonly since: number | undefined;
  /** Of records; undefined: all. */
  readonly record: (typeof HISTORY_RECORDS)[number] | undefined;
}

const HISTORY_RECORDS = ['failure', 'change'] as const;

/** Which events to show; empty lists: all. */
export interface EventFilter {
  readonly names: readonly NameKey[];
  readonly types: readonly number[];
  readonly rcodes: readonly number[];
  readonly clients: readonly AddressRange[];
  /** Namespaces that the name is in, or that the search list of the client shows. */
  readonly namespaces: readonly string[];
  readonly reasons: readonly string[];
  readonly sources: readonly string[];
}

export type ControlOrder =
  | { readonly kind: 'status' }
  /** `watch`: for how many milliseconds queries are watched; 0: not at all. */
  | { readonly kind: 'doctor'; readonly watch: number }
  | ExplainOrder
  | {
      readonly kind: 'lookup';
      readonly name: string;
      readonly type: string;
      readonly from: string | undefined;
    }
  /** `rate`: how many queries to show in a second, of all that come; undefined: all. */
  | { readonly kind: 'tail'; readonly filter: EventFilter; readonly rate: number | undefined }
  /** `interval` in milliseconds. */
  | { readonly kind: 'top'; readonly filter: EventFilter; readonly interval: number; readonly rows: number }
  /** `duration` in milliseconds. */
  | { readonly kind: 'questions'; readonly duration: number }
  /** `bucket`: of 256; undefined: the digests of all. */
  | { readonly kind: 'names'; readonly bucket: number | undefined }
  | { readonly kind: 'changes'; readonly rows: number }
  /** Removes the names that are stale since a sudden loss. */
  | { readonly kind: 'accept' }
  | HistoryOrder
  | { readonly kind: 'cache'; readonly action: 'dump' | 'flush'; readonly domain: NameKey }
  | { readonly kind: 'upstream'; readonly server: string; readonly isOn: boolean }
  | { readonly kind: 'log-level'; readonly level: LogLevel }
  /** Undefined: no query log. */
  | { readonly kind: 'query-log'; readonly plan: QueryLogPlan | undefined }
  /** After its file is rotated. */
  | { readonly kind: 'reopen-query-log' };

export const ORDERS = [
  'status',
  'explain',
  'doctor',
  'tail',
  'top',
  'questions',
  'lookup',
  'names',
  'changes',
  'accept',
  'history',
  'cache',
  'upstream',
  'query-log',
  'log-level',
] as const;

/** Orders that change nothing of the server. */
const READING: readonly string[] = ORDERS.filter(
  (order) => !['accept', 'cache', 'upstream', 'query-log', 'log-level'].includes(order),
);

/** Whether an order changes the server. */
export function changesServer(verb: string, words: readonly string[]): boolean {
  return !READING.includes(verb) && !(verb === 'cache' && words[0] === 'dump');
}

const FILTERS = ['name', 'type', 'rcode', 'client', 'namespace', 'reason', 'source'] as const;
const EXPLAIN_SETTINGS = ['from', 'namespace', 'pod', 'search', 'ndots', 'resolver'] as const;
const HISTORY_SETTINGS = ['from', 'to', 'since', 'record'] as const;
const TAIL_SETTINGS = [...FILTERS, 'rate'] as const;
const TOP_SETTINGS = [...FILTERS, 'interval', 'rows'] as const;

const DEFAULT_INTERVAL = 2_000;
const DEFAULT_ROWS = 10;
const DEFAULT_WATCH = 2_000;
const DEFAULT_QUESTIONS = 60_000;
const DEFAULT_CHANGES = 50;
const MAX_CHANGES = 4_096;
const ADDRESS_TYPES = ['A', 'AAAA'];

/** @param format the format of the query log unless the order names one */
export function readControlOrder(
  [name, ...words]: readonly string[],
  format: QueryLogPlan['settings']['format'],
): Checked<ControlOrder> {
  const reader = new OrderReader();
  const value = reader.read(name ?? '', words, format);
  return reader.problems.length === 0 ? { kind: 'good', value } : { kind: 'bad', problems: reader.problems };
}

class OrderReader extends ValueReader {
  read(name: string, words: readonly string[], format: QueryLogPlan['settings']['format']): ControlOrder {
    const order = this.choice('order', name, ORDERS, 'status');
    const [first = '', second = '', ...rest] = words;
    switch (order) {
      case 'accept':
      case 'status':
        this.#refuse(words);
        return { kind: order };
      case 'doctor': {
        const settings = this.#only('doctor', words, ['watch']);
        return {
          kind: 'doctor',
          watch: this.duration('watch', lastSetting(settings, 'watch'), DEFAULT_WATCH),
        };
      }
      case 'explain':
        return this.#explain(words);
      case 'lookup': {
        const { plain, settings } = this.#split('lookup', words, ['from']);
        this.#refuse(plain.slice(2));
        const [asked = '', type = 'A'] = plain;
        return {
          kind: 'lookup',
          name: this.#name(asked),
          type: this.#type(type),
          from: lastSetting(settings, 'from'),
        };
      }
      case 'tail':
        return this.#tail(words);
      case 'top':
        return this.#top(words);
      case 'questions': {
        const time = lastSetting(this.#only('questions', words, ['for']), 'for');
        return { kind: 'questions', duration: this.duration('for', time, DEFAULT_QUESTIONS) };
      }
      case 'names':
        this.#refuse(words.slice(1));
        return { kind: 'names', bucket: words[0] === undefined ? undefined : this.#bucket(words[0]) };
      case 'changes': {
        const rows = lastSetting(this.#only('changes', words, ['rows']), 'rows');
        const range = { min: 1, max: MAX_CHANGES, of: 'a number of rows' };
        return { kind: 'changes', rows: this.integer('rows', rows, range, DEFAULT_CHANGES) };
      }
      case 'history':
        return this.#history(words);
      case 'cache':
        this.#refuse(rest);
        return {
          kind: 'cache',
          action: this.choice('cache', first, ['dump', 'flush'], 'dump'),
          domain: first === 'flush' || second !== '' ? this.#cachedDomain(second) : ROOT,
        };
      case 'upstream':
        this.#refuse(rest);
        if (first === '' || second === '') {
          this.addProblem(
            'upstream',
            'incomplete',
            undefined,
            'Give a server that status shows, and on or off.',
          );
          return { kind: 'upstream', server: first, isOn: true };
        }
        return {
          kind: 'upstream',
          server: first,
          isOn: this.choice('upstream', second, ['on', 'off'], 'on') === 'on',
        };
      case 'log-level':
        this.#refuse(words.slice(1));
        return { kind: 'log-level', level: this.choice('log-level', first, LOG_LEVELS, 'info') };
      case 'query-log': {
        const action = this.choice('query-log', first, ['on', 'off', 'reopen'], 'off');
        if (action === 'on')
          return { kind: 'query-log', plan: readQueryLogWords(this, words.slice(1), format) };
        this.#refuse(words.slice(1));
        return action === 'off' ? { kind: 'query-log', plan: undefined } : { kind: 'reopen-query-log' };
      }
    }
  }

  #explain(words: readonly string[]): ExplainOrder {
    const { plain, settings } = this.#split('explain', words, EXPLAIN_SETTINGS);
    const asks = plain.includes('ask');
    const [name = '', ...types] = plain.filter((word) => word !== 'ask');
    const search = lastSetting(settings, 'search');
    return {
      kind: 'explain',
      name: this.#name(name),
      types: types.length === 0 ? ADDRESS_TYPES : types.map((type) => this.#type(type)),
      from: lastSetting(settings, 'from'),
      namespace: lastSetting(settings, 'namespace'),
      pod: lastSetting(settings, 'pod'),
      search: search?.split(/[,\s]+/).filter((domain) => domain !== ''),
      ndots: this.integer(
        'ndots',
        lastSetting(settings, 'ndots'),
        { min: 0, max: 15, of: 'a number of dots' },
        undefined,
      ),
      resolver:
        this.choice('resolver', lastSetting(settings, 'resolver'), RESOLVER_LIBRARIES, 'glibc') ?? 'glibc',
      asks,
    };
  }

  #history(words: readonly string[]): ControlOrder {
    const settings = this.#only('history', words, HISTORY_SETTINGS);
    return {
      kind: 'history',
      from: this.#time('from', lastSetting(settings, 'from')),
      to: this.#time('to', lastSetting(settings, 'to')),
      since: this.duration('since', lastSetting(settings, 'since'), undefined),
      record: this.choice('record', lastSetting(settings, 'record'), HISTORY_RECORDS, undefined),
    };
  }

  /** @returns milliseconds since 1970 */
  #time(where: string, text: string | undefined): number | undefined {
    const value = text === undefined ? undefined : Date.parse(text);
    if (value === undefined || Number.isFinite(value)) return value;
    this.addProblem(where, 'not a time', text, 'Give one such as 2026-11-29T10:15:00Z.');
    return undefined;
  }

  #tail(words: readonly string[]): ControlOrder {
    const settings = this.#only('tail', words, TAIL_SETTINGS);
    const range = { min: 1, max: 1_000_000, of: 'a number of queries' };
    const rate = this.integer('rate', lastSetting(settings, 'rate'), range, undefined);
    return { kind: 'tail', filter: this.#filter(settings), rate };
  }

  #top(words: readonly string[]): ControlOrder {
    const settings = this.#only('top', words, TOP_SETTINGS);
    return {
      kind: 'top',
      filter: this.#filter(settings),
      interval: this.duration('interval', lastSetting(settings, 'interval'), DEFAULT_INTERVAL),
      rows: this.integer(
        'rows',
        lastSetting(settings, 'rows'),
        { min: 1, max: 100, of: 'a number of rows' },
        DEFAULT_ROWS,
      ),
    };
  }

  #filter(settings: Settings): EventFilter {
    const all = (name: (typeof FILTERS)[number]) =>
      (settings.get(name) ?? []).flatMap((text) => text.split(','));
    const log = readQueryLogSettings(
      this,
      {
        format: undefined,
        sample: undefined,
        zones: all('name'),
        rcodes: all('rcode'),
        clients: all('client'),
      },
      (setting) => (setting === 'zone' ? 'name' : setting),
    );
    return {
      names: log.zones,
      types: all('type').map((type) => parseType(this.#type(type)) ?? 0),
      rcodes: log.rcodes,
      clients: log.clients,
      namespaces: all('namespace'),
      reasons: this.#known('reason', all('reason'), REASON_KINDS),
      sources: this.#known('source', all('source'), EVENT_SOURCES),
    };
  }

  /** Values of a list. Any other would match nothing. */
  #known(where: string, given: readonly string[], known: readonly string[]): readonly string[] {
    for (const value of given.filter((each) => !known.includes(each))) {
      const nearest = findNearest(value, known);
      this.addProblem(where, 'unknown', value, `Give ${nearest ?? `one of ${known.join(', ')}`}.`);
    }
    return given;
  }

  /** Words with `=` are settings. */
  #split(order: string, words: readonly string[], names: readonly string[]) {
    const plain = words.filter((word) => !word.includes('='));
    return {
      plain,
      settings: this.#only(
        order,
        words.filter((word) => word.includes('=')),
        names,
      ),
    };
  }

  #only(order: string, words: readonly string[], names: readonly string[]): Settings {
    return readSettingWords(this, order, words, names);
  }

  #name(text: string): string {
    if (tryParseName(text) !== undefined) return text;
    this.addProblem('name', 'not a domain name', text, 'Give one such as cart.shop.');
    return '.';
  }

  #domain(text: string): NameKey {
    return parseKey(this.#name(text));
  }

  #cachedDomain(text: string): NameKey {
    if (text !== '') return this.#domain(text);
    this.addProblem('cache', 'no domain', undefined, 'Give the domain whose answers go; . stands for all.');
    return ROOT;
  }

  #type(text: string): string {
    if (parseType(text) !== undefined) return text.toUpperCase();
    this.addProblem('type', 'not a type', text, 'Give one such as A or AAAA.');
    return 'A';
  }

  #bucket(text: string): number {
    if (/^[0-9a-f]{2}$/.test(text)) return Number.parseInt(text, 16);
    this.addProblem('bucket', 'not two hexadecimal digits', text, 'Give one from 00 to ff, or none.');
    return 0;
  }

  #refuse([first]: readonly string[]): void {
    if (first !== undefined) this.addProblem('order', 'unexpected word', first, 'Leave it out.');
  }
}
