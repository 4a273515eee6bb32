/**
 * Domains inside the cluster's zone whose names others answer: stub domains below it. The table leaves them to the handler
 * chain, whether or not the cluster is listed.
 */

import { isOfKubernetes } from '../../config/resolver/flags.ts';
import type { ForwardRule } from '../../forward/plan.ts';
import type { ZoneTerms } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { encodeName, isWithin, parentOf, ROOT } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';

/** Nothing is ever denied in its name: every question is asked. */
const TERMS: ZoneTerms = {
  apex: encodeName(ROOT),
  known: true,
  // Two names, both the root, and five numbers.
  soaData: new Uint8Array(22),
  negativeTtl: 0,
  authoritativeNxdomain: false,
  recursionAvailable: true,
  askWildcards: false,
};

export class ForeignDomains {
  readonly #domains: ReadonlySet<NameKey>;

  /** @param cluster the apex of the cluster's zone */
  constructor(rules: readonly ForwardRule[], cluster: NameKey, table: TableWriter) {
    this.#domains = new Set(domainsBelow(rules, cluster));
    if (this.#domains.size === 0) return;
    const zone = table.defineZone(TERMS);
    for (const domain of this.#domains) {
      table.put({
        name: encodeName(domain),
        zone,
        below: { kind: 'ask', labels: 0 },
        otherTypes: 'ask',
        metricsId: 0,
        answers: new Map(),
      });
    }
  }

  has(name: NameKey): boolean {
    if (this.#domains.size === 0) return false;
    for (let at: NameKey | undefined = name; at !== undefined; at = parentOf(at))
      if (this.#domains.has(at)) return true;
    return false;
  }
}

/** Names of services and pods stay ours whatever a rule says. */
function* domainsBelow(rules: readonly ForwardRule[], cluster: NameKey): Iterable<NameKey> {
  for (const { names } of rules) {
    for (const match of names) {
      if (match.kind !== 'domain' || match.name === cluster || !isWithin(match.name, cluster)) continue;
      if (!isOfKubernetes(match.name, cluster)) yield match.name;
    }
  }
}
