/**
 * Words faults of records as CoreDNS does, since people search for these messages.
 */
import type { ZoneFileProblem } from './zone-file.ts';

/** The names of fields of the usual types in the library of CoreDNS. */
const FIELD_WORDS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['A', ['A A']],
  ['AAAA', ['AAAA AAAA']],
  ['CNAME', ['CNAME Target']],
  ['MX', ['MX Pref', 'MX Mx']],
  ['NS', ['NS NsName']],
  ['PTR', ['PTR Ptr']],
  ['SOA', ['SOA Ns', 'SOA Mbox', ...Array.from({ length: 5 }, () => 'SOA zone parameter')]],
  ['SRV', ['SRV Priority', 'SRV Weight', 'SRV Port', 'SRV Target']],
]);

/** `dns: bad A A: "x" at line: 1:20`. */
export function describeAsCoreDns({ line, column, fault, field, word = '' }: ZoneFileProblem): string {
  const what =
    field === undefined ? fault : `bad ${FIELD_WORDS.get(field.type)?.[field.index] ?? field.type}`;
  return `dns: ${what}: ${JSON.stringify(word)} at line: ${line}:${column}`;
}
