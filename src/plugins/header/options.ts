/**
 * Flags of queries and responses that are set or cleared.
 */
export interface HeaderOptions {
  readonly query: readonly HeaderFlagRule[];
  readonly response: readonly HeaderFlagRule[];
}

export interface HeaderFlagRule {
  readonly flag: 'aa' | 'ra' | 'rd';
  readonly value: boolean;
}
