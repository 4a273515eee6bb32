/**
 * Flags of queries and responses to set or clear.
 */
export interface HeaderOptions {
  readonly query: readonly HeaderFlagRule[];
  readonly response: readonly HeaderFlagRule[];
}

export interface HeaderFlagRule {
  readonly flag: 'aa' | 'ra' | 'rd';
  readonly value: boolean;
}
