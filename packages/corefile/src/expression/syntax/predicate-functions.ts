/**
 * The functions that compute something for each element of a list. The parser, the check and the evaluation know them.
 */

/** Their arguments, by their names; `?` marks those that may be left out. */
export const PREDICATE_FUNCTIONS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>(
  [
    ...'all none any one filter map find findIndex findLast findLastIndex groupBy'
      .split(' ')
      .map((name) => [name, ['value', 'predicate']] as const),
    ['count', ['value', 'predicate?']],
    ['sum', ['value', 'predicate?']],
    ['sortBy', ['value', 'predicate', 'value?']],
    ['reduce', ['value', 'predicate', 'value?']],
  ],
);
