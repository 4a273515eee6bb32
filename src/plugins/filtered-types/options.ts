/**
 * The settings of `filtered-types`.
 */
export interface FilteredTypesOptions {
  readonly types: ReadonlySet<number>;
}
