/**
 * How errors of the handlers are logged.
 */
import type { Pattern } from '@portolan/kernel/base/pattern.ts';

export interface ErrorsOptions {
  /** Whether an internal error is logged with its stack. */
  readonly stacktrace: boolean;
  /** The first that matches an error counts it. */
  readonly consolidations: readonly ErrorConsolidation[];
}

/** Errors that are counted for a time and then logged in one line. */
export interface ErrorConsolidation {
  /** Milliseconds; 0 or less logs each error at once. */
  readonly period: number;
  readonly pattern: Pattern;
  readonly level: 'debug' | 'info' | 'warning' | 'error';
  /** Whether the first error of each period is logged at once. */
  readonly showFirst: boolean;
}
