/**
 * The names that a resolver library asks for, in its order, and when it stops.
 *
 * `test/search-lists/` records what the libraries ask for: glibc 2.36, musl 1.2.3 and Go 1.26. A root domain in the list (`search .`) is
 * not recorded: musl 1.2.3 sends a malformed question for it.
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
export const STEP_OUTCOMES = ['answer', 'nodata', 'nxdomain', 'servfail', 'refused'] as const;
export type StepOutcome = (typeof STEP_OUTCOMES)[number];

/** What a library does after a question. `as-given`: it leaves the list, and asks for the name as given if it has not. */
export type NextStep = 'next' | 'as-given' | 'stop';

/** The most characters of a name in text form without its final dot. */
const MAX_CHARACTERS = 253;
/** Longer names do not fit the buffer of musl, which then takes the next domain. */
const MUSL_BUFFER = 255;

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
    .map((domain) => (domain === '' ? asGiven : `${name}.${domain}.`));
  const isFirst = dots >= ndots;
  switch (library) {
    case 'musl':
      // It does not use the list for names with enough dots.
      return isFirst
        ? [asGiven]
        : untilTooLong([...searched, asGiven].filter((each) => each.length - 1 <= MUSL_BUFFER));
    case 'glibc':
      return inOrder(asGiven, untilTooLong(searched), isFirst);
    case 'go':
      return inOrder(
        asGiven,
        searched.filter((each) => !isTooLong(each)),
        isFirst,
      );
  }
}

function inOrder(asGiven: string, searched: readonly string[], isFirst: boolean): readonly string[] {
  return [...new Set(isFirst ? [asGiven, ...searched] : [...searched, asGiven])];
}

function untilTooLong(candidates: readonly string[]): readonly string[] {
  const end = candidates.findIndex(isTooLong);
  return end < 0 ? candidates : candidates.slice(0, end);
}

function isTooLong(candidate: string): boolean {
  return candidate.length - 1 > MAX_CHARACTERS;
}

/** What the library does next. @param isAsGiven whether the name was asked for as it was given */
export function stepAfter(outcome: StepOutcome, library: ResolverLibrary, isAsGiven: boolean): NextStep {
  if (outcome === 'answer') return 'stop';
  switch (library) {
    case 'musl':
      return outcome === 'nxdomain' ? 'next' : 'stop';
    case 'glibc':
      return outcome === 'refused' && !isAsGiven ? 'as-given' : 'next';
    case 'go':
      return 'next';
  }
}

/** The names that a library gets to. @param findOutcome the outcome for a name; undefined: not known, which ends the walk */
export function listReached(
  name: string,
  settings: SearchSettings,
  library: ResolverLibrary,
  findOutcome: (candidate: string) => StepOutcome | undefined,
): readonly string[] {
  const asGiven = name.endsWith('.') ? name : `${name}.`;
  const reached: string[] = [];
  let step: NextStep = 'next';
  for (const candidate of listCandidates(name, settings, library)) {
    if (step === 'as-given' && candidate !== asGiven) continue;
    reached.push(candidate);
    const outcome = findOutcome(candidate);
    step = outcome === undefined ? 'stop' : stepAfter(outcome, library, candidate === asGiven);
    if (step === 'stop') break;
  }
  return reached;
}

/** The search list of a pod with the policy ClusterFirst. @param domain with or without its final dot */
export function makeClusterFirstSearchList(namespace: string, domain: string): readonly string[] {
  const zone = domain.replace(/\.$/, '');
  return [`${namespace}.svc.${zone}`, `svc.${zone}`, zone];
}
