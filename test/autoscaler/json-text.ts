/** Replaces the fault of JSON, which the original describes in Go's words, so that everything around it is compared. */
export function dropJsonText(error: string): string {
  return error.replace(/(could not parse parameters )\(.+\)$/s, '$1(...)');
}
