/**
 * The settings of `erratic`. Queries are numbered from 0; an amount of 0 disables its effect.
 */
export interface ErraticOptions {
  /** Drop queries whose number is a multiple of it. */
  readonly drop: number;
  /** Set the TC bit for queries whose number has no bit in common with it. */
  readonly truncate: number;
  /** Answer late if the query's number is a multiple of it. */
  readonly delay: number;
  /** Milliseconds. */
  readonly duration: number;
  /** Whether answers with an address repeat it 30 times. */
  readonly isLarge: boolean;
}
