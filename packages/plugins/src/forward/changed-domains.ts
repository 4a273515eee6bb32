/**
 * The names that two lists of forwarding rules may send to different servers.
 */
import { ROOT, toParent } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { ForwardRule, ForwardTarget, RuleMatch } from '@portolan/kernel/forward/forward-plan.ts';
import { formatUpstream } from '@portolan/kernel/forward/upstream-address.ts';

/** Each domain needs a search of all cached answers: for more domains than this, drop all answers. */
const MAX_DOMAINS = 64;

/** The domains whose names may go to other servers, without domains inside others; the root if they cannot be told apart. */
export function listChangedDomains(
  before: readonly ForwardRule[],
  after: readonly ForwardRule[],
): readonly NameKey[] {
  const old = targetsByMatch(before);
  const now = targetsByMatch(after);
  const changed = [...new Set([...old.keys(), ...now.keys()])].filter(
    (match) => old.get(match)?.target !== now.get(match)?.target,
  );
  const domains = new Set(
    changed.map((match) => toCoveringDomain((old.get(match) ?? now.get(match))?.match)),
  );
  const widest = [...domains].filter((domain) => !isBelowAny(domain, domains));
  return widest.length > MAX_DOMAINS ? [ROOT] : widest;
}

function isBelowAny(domain: NameKey, domains: ReadonlySet<NameKey>): boolean {
  for (let at = toParent(domain); at !== undefined; at = toParent(at)) if (domains.has(at)) return true;
  return false;
}

interface Rule {
  readonly match: RuleMatch;
  readonly target: string;
}

/** By the text of their match; of two rules for the same match the last one counts. */
function targetsByMatch(rules: readonly ForwardRule[]): ReadonlyMap<string, Rule> {
  const targets = new Map<string, Rule>();
  for (const { names, target } of rules) {
    for (const match of names) targets.set(JSON.stringify(match), { match, target: formatTarget(target) });
  }
  return targets;
}

function formatTarget(target: ForwardTarget): string {
  if (target.kind !== 'servers') return target.kind;
  return target.servers
    .map(({ address, queriesPerSecond }) => `${formatUpstream(address)} ${queriesPerSecond}`)
    .join();
}

function toCoveringDomain(match: RuleMatch | undefined): NameKey {
  return match?.kind === 'domain' ? match.name : ROOT;
}
