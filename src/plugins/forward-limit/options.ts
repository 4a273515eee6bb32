/**
 * The settings of `forward-limit`.
 */
export interface ForwardLimitOptions {
  /** Names with fewer labels are refused; infinite: all names are refused. */
  readonly minLabels: number;
}
