/**
 * Which names two lists of forwarding rules may send to different servers.
 */
import type { ForwardRule, ForwardTarget, NameMatch } from '../../forward/plan.ts';
import { formatUpstream } from '../../forward/upstream-address.ts';
import { isWithin, ROOT } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';

/** The domains whose names may go elsewhere, none within another; the root where it cannot be told so finely. */
export function listChangedDomains(
  before: readonly ForwardRule[],
  after: readonly ForwardRule[],
): readonly NameKey[] {
  const [old, now] = [targetsByMatch(before), targetsByMatch(after)];
  const changed = [...new Set([...old.keys(), ...now.keys()])].filter(
    (match) => old.get(match)?.target !== now.get(match)?.target,
  );
  const domains = changed.map((match) => coverOf((old.get(match) ?? now.get(match))?.match));
  const isCovered = (domain: NameKey) => domains.some((other) => other !== domain && isWithin(domain, other));
  return [...new Set(domains)].filter((domain) => !isCovered(domain));
}

interface Rule {
  readonly match: NameMatch;
  readonly target: string;
}

/** By the text of what they match; of two for the same the last one counts. */
function targetsByMatch(rules: readonly ForwardRule[]): ReadonlyMap<string, Rule> {
  const targets = new Map<string, Rule>();
  for (const { names, target } of rules) {
    for (const match of names) targets.set(JSON.stringify(match), { match, target: textOf(target) });
  }
  return targets;
}

function textOf(target: ForwardTarget): string {
  if (target.kind !== 'servers') return target.kind;
  return target.servers
    .map(({ address, queriesPerSecond }) => `${formatUpstream(address)} ${queriesPerSecond}`)
    .join();
}

function coverOf(match: NameMatch | undefined): NameKey {
  return match?.kind === 'domain' ? match.name : ROOT;
}
