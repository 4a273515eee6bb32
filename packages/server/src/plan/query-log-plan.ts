/**
 * The settings of a query log: which queries to log, how many of them, in which format and where.
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';
import type { NameKey } from '@portolan/dns/types.ts';

export const LOG_FORMATS = ['text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export interface QueryLogSettings {
  readonly format: LogFormat;
  /** Log one in so many selected queries, at random; 1: all. */
  readonly sample: number;
  /** Log only names at or below one of these; empty: all. */
  readonly zones: readonly NameKey[];
  /** Log only these response codes; empty: all. */
  readonly rcodes: readonly number[];
  /** Log only these clients; empty: all. */
  readonly clients: readonly AddressRange[];
}

export interface QueryLogPlan {
  /** Undefined: standard output. */
  readonly file: string | undefined;
  readonly settings: QueryLogSettings;
}

/** The file name that means standard output. */
export const STANDARD_OUTPUT = '-';
