/**
 * A line for each query.
 */
import type { NameKey } from '@portolan/dns/types.ts';

export interface LogOptions {
  /** The first rule whose zone contains the name decides. */
  readonly rules: readonly LogRule[];
}

export interface LogRule {
  readonly zone: NameKey;
  /** With words in braces, `{common}` and `{combined}` already replaced. */
  readonly format: string;
  readonly classes: readonly LogClass[];
}

/** `success`: with an answer. `denial`: no such name, or no data. `error`: all others. */
export type LogClass = 'all' | 'success' | 'denial' | 'error';
