/**
 * The properties of `ads`.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Block, fault, type Pattern, readLines, type Use, type Word } from '@portolan/plugin';
import { parseListName } from './list-line.ts';

/** Where a list is: a path, or the address of a server. */
export interface ListPlace {
  readonly kind: 'file' | 'http';
  readonly place: string;
}

export interface Rules {
  readonly lists: readonly ListPlace[];
  /** In lower case, without a dot at the end. */
  readonly names: readonly string[];
  readonly patterns: readonly Pattern[];
}

export interface AdsOptions {
  readonly blocked: Rules;
  /** They count before those that are blocked. */
  readonly permitted: Rules;
  /** What blocked names are answered with. */
  readonly target: { readonly ipv4: string; readonly ipv6: string } | 'nxdomain';
  /** Whether each blocked question is a line in the log. */
  readonly logs: boolean;
  /** Milliseconds between two fetches of a list; undefined: only once. */
  readonly fetchInterval: number | undefined;
  /** The file that keeps what was fetched. */
  readonly store: string | undefined;
}

interface RulesDraft {
  readonly lists: ListPlace[];
  readonly names: string[];
  readonly patterns: Pattern[];
}

interface AdsDraft {
  readonly blocked: RulesDraft;
  readonly permitted: RulesDraft;
  ipv4: string;
  ipv6: string;
  isNxdomain: boolean;
  logs: boolean;
  interval: number;
  isUpdated: boolean;
  store: string | undefined;
}

type ReadAdsProperty = (args: readonly Word[], name: Word) => void;

const DAY = 86_400_000;
/** Milliseconds: who keeps lists for others bears no more. */
const MIN_INTERVAL = 60_000;
/** What a timer can wait for. */
const MAX_INTERVAL = 2 ** 31 - 1;
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;
const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1] as const,
  ['s', 1_000] as const,
  ['m', 60_000] as const,
  ['h', 3_600_000] as const,
]);

/** @throws a fault */
export function readOptions([use, second]: readonly Use[], block: Block): AdsOptions {
  if (use === undefined) throw new TypeError('no use of ads');
  if (second !== undefined)
    throw fault(
      'this plugin can only be used once per Server Block',
      second.head,
      'Put all lists into one use.',
    );
  const rules = () => ({ lists: [], names: [], patterns: [] });
  const draft: AdsDraft = {
    blocked: rules(),
    permitted: rules(),
    ipv4: '127.0.0.1',
    ipv6: '::1',
    isNxdomain: false,
    logs: false,
    interval: DAY,
    isUpdated: true,
    store: undefined,
  };
  readLines(use, new Map([...listRuleProperties(draft, block), ...listSettingProperties(draft, block)]));
  const { blocked, permitted, ipv4, ipv6, isNxdomain, logs, interval, isUpdated, store } = draft;
  if (blocked.lists.length + blocked.names.length + blocked.patterns.length === 0)
    throw fault(
      'no list, and no name to block',
      use.head,
      'Name a list, as in blacklist file:///etc/coredns/blocked.txt. Portolan has no default lists.',
    );
  return {
    blocked,
    permitted,
    logs,
    store,
    target: isNxdomain ? 'nxdomain' : { ipv4, ipv6 },
    fetchInterval: isUpdated ? interval : undefined,
  };
}

function listRuleProperties(
  { blocked, permitted }: AdsDraft,
  block: Block,
): readonly (readonly [string, ReadAdsProperty])[] {
  const lists =
    ({ lists }: RulesDraft): ReadAdsProperty =>
    (args, name) =>
      void lists.push(readPlace(requireOneWord(args, name), block));
  const names =
    (rules: RulesDraft): ReadAdsProperty =>
    (args, name) => {
      const word = requireOneWord(args, name);
      const read = parseListName(word.text);
      if (read === undefined)
        throw fault(`not a name: ${word.text}`, word, 'Give a name, as in ads.example.com.');
      rules.names.push(read);
    };
  const patterns =
    (rules: RulesDraft): ReadAdsProperty =>
    (args, name) =>
      void rules.patterns.push(readPattern(requireOneWord(args, name), block));
  const noDefaults: ReadAdsProperty = (_args, name) => {
    throw fault(
      `${name.text} is not built into Portolan`,
      name,
      'Most of these lists have ended. Name those that you want, as in blacklist https://lists.example/hosts.',
    );
  };
  return [
    ['blacklist', lists(blocked)] as const,
    ['whitelist', lists(permitted)] as const,
    ['block', names(blocked)] as const,
    ['permit', names(permitted)] as const,
    ['block-regex', patterns(blocked)] as const,
    ['permit-regex', patterns(permitted)] as const,
    ...['default-lists', 'strict-default-lists', 'unfiltered-strict-default-lists'].map(
      (word) => [word, noDefaults] as const,
    ),
  ];
}

function listSettingProperties(
  draft: AdsDraft,
  block: Block,
): readonly (readonly [string, ReadAdsProperty])[] {
  const flag = (set: () => void): ReadAdsProperty => {
    return (args, name) => {
      if (args.length > 0) throw countFault(name, `Write ${name.text} without a value.`);
      set();
    };
  };
  return [
    ['nxdomain', flag(() => Object.assign(draft, { isNxdomain: true }))],
    ['log', flag(() => Object.assign(draft, { logs: true }))],
    ['disable-auto-update', flag(() => Object.assign(draft, { isUpdated: false }))],
    [
      'target',
      (args, name) => {
        draft.ipv4 = readTarget(requireOneWord(args, name), isIPv4, 'target 192.0.2.1');
      },
    ],
    [
      'target-ipv6',
      (args, name) => {
        draft.ipv6 = readTarget(requireOneWord(args, name), isIPv6, 'target-ipv6 2001:db8::1');
      },
    ],
    [
      'auto-update-interval',
      (args, name) => {
        draft.interval = readDuration(requireOneWord(args, name));
      },
    ],
    [
      'list-store',
      (args, name) => {
        if (draft.store !== undefined)
          throw fault(
            'Only one filepath for blocklist persistency can be defined',
            name,
            'Take this line out.',
          );
        draft.store = block.resolve(requireOneWord(args, name).text);
      },
    ],
  ];
}

function readPlace(word: Word, block: Block): ListPlace {
  const remedy = 'Give file:///PATH, http:// or https://.';
  if (word.text.startsWith('/')) return { kind: 'file', place: block.resolve(word.text) };
  if (!URL.canParse(word.text)) throw fault(`not a URL: ${word.text}`, word, remedy);
  const url = new URL(word.text);
  if (url.protocol === 'http:' || url.protocol === 'https:') return { kind: 'http', place: url.href };
  if (url.protocol !== 'file:' || url.host !== '')
    throw fault(`Invaild URL. The scheme ${url.protocol.slice(0, -1)} is not supported!`, word, remedy);
  return { kind: 'file', place: fileURLToPath(url) };
}

function readPattern(word: Word, block: Block): Pattern {
  try {
    return block.readPattern(word.text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw fault(reason, word, 'Give a regular expression in the syntax of Go, as in ^ads[0-9]+\\.');
  }
}

function readTarget(word: Word, isAddress: (text: string) => boolean, example: string): string {
  if (isAddress(word.text)) return word.text;
  throw fault('Invalid target IP specified', word, `Give an address, as in ${example}.`);
}

function readDuration(word: Word): number {
  const parts = DURATION.test(word.text) ? word.text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g) : [];
  let milliseconds = 0;
  for (const [, number = '0', unit = ''] of parts) milliseconds += Number(number) * (UNITS.get(unit) ?? 0);
  if (milliseconds >= MIN_INTERVAL && milliseconds <= MAX_INTERVAL) return milliseconds;
  throw fault(
    `not a duration between 1m and ${Math.floor(MAX_INTERVAL / 3_600_000)}h: ${word.text}`,
    word,
    'Give one such as 24h.',
  );
}

function requireOneWord([word, ...more]: readonly Word[], name: Word): Word {
  if (word !== undefined && more.length === 0) return word;
  throw countFault(name, `Give one word behind ${name.text}.`);
}

function countFault(name: Word, remedy: string): Error {
  return fault(`Wrong argument count or unexpected line ending after '${name.text}'`, name, remedy);
}
