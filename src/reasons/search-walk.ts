/**
 * The names that a resolver library asks for, in its order, and when it stops.
 *
 * `glibc` 2.36 `res_search`, `musl` 1.2 `name_from_dns_search`, `go` 1.22 `dnsConfig.nameList`.
 */
export const RESOLVER_LIBRARIES = ['glibc', 'musl', 'go'] as const;
export type ResolverLibrary = (typeof RESOLVER_LIBRARIES)[number];

export interface SearchSettings {
  /** With or without final dots. */
  readonly search: readonly string[];
  /** 0 to 15. */
  readonly ndots: number;
}

/** `answer`: with addresses. */
export type StepOutcome = 'answer' | 'nodata' | 'nxdomain' | 'servfail' | 'refused';

/** The most characters of a name in text form without its final dot. */
const MAX_CHARACTERS = 253;

/** @returns absolute names, without duplicates */
export function listCandidates(
  name: string,
  { search, ndots }: SearchSettings,
  library: ResolverLibrary,
): readonly string[] {
  if (name.endsWith('.')) return [name];
  const asGiven = `${name}.`;
  const dots = name.split('.').length - 1;
  const searched = search
    .map((domain) => domain.replace(/^\.+|\.+$/g, ''))
    .map((domain) => (domain === '' ? asGiven : `${name}.${domain}.`))
    .filter((candidate) => candidate.length - 1 <= MAX_CHARACTERS);
  const isFirst = dots >= ndots;
  // musl does not use the list for names with enough dots.
  if (isFirst && library === 'musl') return [asGiven];
  return [...new Set(isFirst ? [asGiven, ...searched] : [...searched, asGiven])];
}

/** Whether the library goes on with the next name. */
export function continuesAfter(outcome: StepOutcome, library: ResolverLibrary): boolean {
  switch (outcome) {
    case 'answer':
      return false;
    case 'nxdomain':
      return true;
    case 'nodata':
      return library !== 'musl';
    case 'servfail':
      return library !== 'musl';
    case 'refused':
      return library === 'go';
  }
}

/** The search list of a pod with the policy ClusterFirst. @param domain with or without its final dot */
export function searchListOf(namespace: string, domain: string): readonly string[] {
  const zone = domain.replace(/\.$/, '');
  return [`${namespace}.svc.${zone}`, `svc.${zone}`, zone];
}
