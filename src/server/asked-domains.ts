/**
 * Domains inside the cluster's zone whose names the table leaves to the handler chain, whether or not the cluster is listed.
 */
import type { Log } from '../ground/log.ts';
import { TableFullError } from '../table/arena.ts';
import type { ZoneId, ZoneTerms } from '../table/types.ts';
import type { TableWriter } from '../table/writer.ts';
import { encodeName, parentOf, ROOT } from '../wire/name.ts';
import type { NameKey } from '../wire/types.ts';

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
/** Before the cluster's own names, behind those that people write into files. */
const PRECEDENCE = 1;

export class AskedDomains {
  readonly #table: TableWriter;
  readonly #log: Log;
  #zone: ZoneId | undefined;
  #domains: ReadonlySet<NameKey> = new Set();

  constructor(table: TableWriter, log: Log) {
    this.#table = table;
    this.#log = log;
  }

  /** Whether a name is one of the domains, or lies in one. */
  has(name: NameKey): boolean {
    if (this.#domains.size === 0) return false;
    for (let at: NameKey | undefined = name; at !== undefined; at = parentOf(at))
      if (this.#domains.has(at)) return true;
    return false;
  }

  /** Leaves these domains to the chain from now on, and no others. */
  replace(domains: Iterable<NameKey>): void {
    const before = this.#domains;
    const now = new Set(domains);
    if (now.size > 0) this.#zone ??= this.#table.defineZone(TERMS, PRECEDENCE);
    if (this.#zone === undefined) return;
    this.#domains = now;
    for (const domain of now) if (!before.has(domain)) this.#put(domain, this.#zone);
    for (const domain of before) if (!now.has(domain)) this.#table.remove(encodeName(domain), this.#zone);
  }

  #put(domain: NameKey, zone: ZoneId): void {
    try {
      this.#table.put({
        name: encodeName(domain),
        zone,
        below: { kind: 'ask', labels: 0 },
        otherTypes: 'ask',
        metricsId: 0,
        answers: new Map(),
      });
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      this.#log.error('no room in the table for a domain', { domain, reason: error.message });
    }
  }
}
