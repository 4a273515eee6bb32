/**
 * Finds out whether queries that are forwarded come back.
 */
import type { NameKey } from '../../wire/types.ts';

export interface LoopOptions {
  /** Test queries ask below it. */
  readonly zone: NameKey;
}
