/**
 * Errors of the handlers, logged.
 */
import type { Pattern } from '../../base/pattern.ts';

export interface ErrorsOptions {
  /** The stack of an internal error is logged with it. */
  readonly stacktrace: boolean;
  /** The first that fits an error takes it. */
  readonly consolidations: readonly ErrorConsolidation[];
}

/** Errors that are counted for a time and then logged in one line. */
export interface ErrorConsolidation {
  /** Milliseconds; not more than 0 logs each at once. */
  readonly period: number;
  readonly pattern: Pattern;
  readonly level: 'debug' | 'info' | 'warning' | 'error';
  /** The first error of each period is logged as it comes. */
  readonly showFirst: boolean;
}
