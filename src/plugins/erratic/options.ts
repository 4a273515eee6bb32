/**
 * The settings of `erratic`. Amounts count the queries from 0; 0: none.
 */
export interface ErraticOptions {
  /** Each query whose number it divides gets no response. */
  readonly drop: number;
  /** Queries whose number has no bit in common with it get the TC bit. */
  readonly truncate: number;
  /** Each query whose number it divides is answered late. */
  readonly delay: number;
  /** Milliseconds. */
  readonly duration: number;
  /** Whether an answer with an address has it 30 times. */
  readonly isLarge: boolean;
}
