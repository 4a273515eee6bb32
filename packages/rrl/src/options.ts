/**
 * The properties of `rrl`.
 */
import {
  type Block,
  fault,
  type NameKey,
  type ResponseKind,
  readLines,
  toKey,
  type Use,
  type Word,
} from '@portolan/plugin';

export interface RrlOptions {
  /** Lower case, absolute. */
  readonly zones: readonly NameKey[];
  /** Milliseconds. */
  readonly window: number;
  /** Bits of a client's address that count. */
  readonly prefixLengths: { readonly ipv4: number; readonly ipv6: number };
  /** Responses of a kind to a network in a second; 0: no limit. */
  readonly responses: Readonly<Record<ResponseKind, number>>;
  /** Requests of a network in a second; 0: no limit. */
  readonly requests: number;
  /** Sends one in this many responses beyond the rate, truncated; 0: none. */
  readonly slipRatio: number;
  readonly maxTableSize: number;
  /** Whether what exceeds its rate is only counted. */
  readonly reportsOnly: boolean;
}

interface RrlDraft {
  window: number;
  ipv4: number;
  ipv6: number;
  requests: number;
  slipRatio: number;
  maxTableSize: number;
  reportsOnly: boolean;
  responses: Partial<Record<ResponseKind, number>>;
}

type ReadRrlProperty = (args: readonly Word[], name: Word) => void;

const KINDS: ReadonlyMap<string, ResponseKind> = new Map([
  ['responses-per-second', 'response'] as const,
  ['nodata-per-second', 'nodata'] as const,
  ['nxdomains-per-second', 'nxdomain'] as const,
  ['referrals-per-second', 'referral'] as const,
  ['errors-per-second', 'error'],
]);
/** Accounts: more would take more memory than a server has. */
const MAX_TABLE_SIZE = 10_000_000;

/** Properties with one whole number: where it goes, its least and its greatest value. */
const WHOLE_NUMBERS = [
  ['ipv4-prefix-length', 'ipv4', 1, 32],
  ['ipv6-prefix-length', 'ipv6', 1, 128],
  ['slip-ratio', 'slipRatio', 0, 10],
  ['max-table-size', 'maxTableSize', 0, MAX_TABLE_SIZE],
] as const;

/** @throws a fault */
export function readOptions([use, second]: readonly Use[], block: Block): RrlOptions {
  if (use === undefined) throw new TypeError('no use of rrl');
  if (second !== undefined)
    throw fault(
      'this plugin can only be used once per Server Block',
      second.head,
      'Put all zones into one use.',
    );
  const draft: RrlDraft = {
    window: 15_000,
    ipv4: 24,
    ipv6: 56,
    requests: 0,
    slipRatio: 0,
    maxTableSize: 100_000,
    reportsOnly: false,
    responses: {},
  };
  readLines(use, new Map([...listRateProperties(draft), ...listOtherProperties(draft)]));
  const { responses, window, ipv4, ipv6, requests, slipRatio, maxTableSize, reportsOnly } = draft;
  const { response = 0 } = responses;
  return {
    window,
    requests,
    slipRatio,
    maxTableSize,
    reportsOnly,
    prefixLengths: { ipv4, ipv6 },
    zones: use.args.length === 0 ? block.zones : use.args.map(({ text }) => toKey(text)),
    responses: {
      response,
      nodata: response,
      nxdomain: response,
      referral: response,
      error: response,
      ...responses,
    },
  };
}

function listRateProperties(draft: RrlDraft): readonly (readonly [string, ReadRrlProperty])[] {
  return [
    ...Array.from(KINDS, ([property, kind]): readonly [string, ReadRrlProperty] => [
      property,
      (args, name) => {
        draft.responses[kind] = readRate(args, name);
      },
    ]),
    [
      'requests-per-second',
      (args, name) => {
        draft.requests = readRate(args, name);
      },
    ],
  ];
}

function listOtherProperties(draft: RrlDraft): readonly (readonly [string, ReadRrlProperty])[] {
  return [
    [
      'window',
      (args, name) => {
        const seconds = readNumber(args, name);
        if (seconds <= 0)
          throw fault('window must be greater than zero', name, 'Give seconds, as in window 15.');
        draft.window = seconds * 1_000;
      },
    ],
    ...WHOLE_NUMBERS.map(([property, field, min, max]): readonly [string, ReadRrlProperty] => [
      property,
      (args, name) => {
        draft[field] = readWhole(args, name, min, max);
      },
    ]),
    [
      'report-only',
      (args, name) => {
        if (args.length > 0) throw countFault(name, 'Write report-only without a value.');
        draft.reportsOnly = true;
      },
    ],
  ];
}

function readRate(args: readonly Word[], name: Word): number {
  const rate = readNumber(args, name);
  if (rate < 0)
    throw fault(`${name.text} cannot be negative`, name, 'Give a number from 0, which means no limit.');
  return rate;
}

function readNumber(args: readonly Word[], name: Word): number {
  const [word, ...more] = args;
  if (word === undefined || more.length > 0) throw countFault(name, `Give one number behind ${name.text}.`);
  const value = word.text.trim() === '' ? Number.NaN : Number(word.text);
  if (Number.isFinite(value)) return value;
  throw fault(
    `${name.text} invalid value. not a number: ${word.text}`,
    word,
    'Give a number, as in 10 or 0.5.',
  );
}

function readWhole(args: readonly Word[], name: Word, min: number, max: number): number {
  const value = readNumber(args, name);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw fault(
    `${name.text} must be between ${min} and ${max}`,
    name,
    `Give a whole number from ${min} to ${max}.`,
  );
}

function countFault(name: Word, remedy: string): Error {
  return fault(`Wrong argument count or unexpected line ending after '${name.text}'`, name, remedy);
}
