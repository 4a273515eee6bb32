/**
 * What a query log shows: which queries, how many of them, in which form, and where.
 */
import type { AddressRange } from '../../wire/address-range.ts';
import type { NameKey } from '../../wire/types.ts';

export interface QueryLogSettings {
  readonly format: 'text' | 'json';
  /** One in so many of the selected queries is logged, at random; 1: all. */
  readonly sample: number;
  /** Names at or below one of these are logged; empty: all. */
  readonly zones: readonly NameKey[];
  /** Response codes that are logged; empty: all. */
  readonly rcodes: readonly number[];
  /** Clients that are logged; empty: all. */
  readonly clients: readonly AddressRange[];
}

export interface QueryLogPlan {
  /** Undefined: standard output. */
  readonly file: string | undefined;
  readonly settings: QueryLogSettings;
}

/** What stands for standard output where a file is named. */
export const STANDARD_OUTPUT = '-';

export function fileOf(text: string): string | undefined {
  return text === STANDARD_OUTPUT ? undefined : text;
}
