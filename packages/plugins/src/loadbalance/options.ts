/**
 * The order of addresses in an answer.
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';

export interface LoadbalanceOptions {
  /** Undefined: addresses are shuffled; aliases stay before them. */
  readonly weighted: WeightsFile | undefined;
  /** The ranges whose addresses come first, most wanted first. */
  readonly preferred: readonly AddressRange[];
}

/** The weights by which an address comes first. */
export interface WeightsFile {
  readonly path: string;
  /** Milliseconds between two checks of the file; 0: it is read once. */
  readonly reload: number;
}
