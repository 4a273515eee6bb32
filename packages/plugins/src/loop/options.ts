/**
 * Detects whether forwarded queries come back.
 */
import type { NameKey } from '@portolan/dns/types.ts';

export interface LoopOptions {
  /** Test queries ask for names below it. */
  readonly zone: NameKey;
}
