/**
 * The order of addresses in an answer.
 */
export interface LoadbalanceOptions {
  /** Addresses are shuffled; aliases stay before them. */
  readonly policy: 'round_robin';
}
