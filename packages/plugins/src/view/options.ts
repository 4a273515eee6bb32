/**
 * The conditions under which a server block answers.
 */
import type { Expression } from '@portolan/corefile/expression/expression.ts';

export interface ViewOptions {
  readonly name: string;
  /** All must be true. */
  readonly conditions: readonly Expression[];
}
