/**
 * The evidence of checks, from queries that are watched for some time.
 */
import type { ClusterEvidence } from '@portolan/server/reasons/cluster-evidence.ts';
import type { TrafficEvidence } from '@portolan/server/reasons/finding.ts';
import { findNearServices } from '@portolan/server/reasons/near-names.ts';
import type { WatchedQuery } from './query-stream.ts';

/** Keys that are counted; further ones are left out. */
const MAX_KEYS = 2_000;
/** `cart.shop.svc.corp.local.`: the domain of a cluster is behind `svc`. */
const SERVICE_NAME = /^[^.]+\.[^.]+\.svc\.(.+\.)$/;

interface ClientCounts {
  queries: number;
  searched: number;
  /** How often the search list of the client named a namespace. */
  readonly namespaces: Map<string, number>;
}

export class TrafficCounts {
  readonly #domain: string;
  readonly #clients = new Map<string, ClientCounts>();
  /** What search lists were added to: `www.example.com`. */
  readonly #prefixes = new Set<string>();
  readonly #missing = new Map<string, number>();
  readonly #foreign = new Map<string, number>();
  #queries = 0;

  /** @param domain the apex of the cluster's zone */
  constructor(domain: string) {
    this.#domain = domain;
  }

  add(query: WatchedQuery): void {
    const { name, reason } = query;
    this.#queries += 1;
    this.#addToClient(query);
    if (reason === 'no-such-service') count(this.#missing, name);
    const [, domain] = SERVICE_NAME.exec(name) ?? [];
    if (reason === 'foreign-cluster-domain' && domain !== undefined) count(this.#foreign, domain);
  }

  /** The names that a search list makes show the namespace of their client. */
  #addToClient({ client, name, namespace, isSearched, reason }: WatchedQuery): void {
    const counts = this.#clients.get(client) ?? { queries: 0, searched: 0, namespaces: new Map() };
    if (this.#clients.size < MAX_KEYS) this.#clients.set(client, counts);
    counts.queries += 1;
    if (!isSearched && reason !== 'not-a-name-form') return;
    counts.searched += 1;
    if (namespace === undefined) return;
    const whole = name.slice(0, -`.svc.${this.#domain}`.length);
    // `www.example.com.svc`: the second domain of the list, and no namespace `com`.
    if (this.#prefixes.has(whole)) return;
    if (this.#prefixes.size < MAX_KEYS) this.#prefixes.add(whole.slice(0, -namespace.length - 1));
    count(counts.namespaces, namespace);
  }

  /** The queries of the clients of each namespace. */
  #byNamespace(): ReadonlyMap<string, { readonly queries: number; readonly searched: number }> {
    const found = new Map<string, { queries: number; searched: number }>();
    for (const { queries, searched, namespaces } of this.#clients.values()) {
      const [most] = [...namespaces].sort(([, one], [, other]) => other - one);
      if (most === undefined) continue;
      const counts = found.get(most[0]) ?? { queries: 0, searched: 0 };
      counts.queries += queries;
      counts.searched += searched;
      found.set(most[0], counts);
    }
    return found;
  }

  /** @param evidence for names that are near */
  read(seconds: number, evidence: ClusterEvidence | undefined): TrafficEvidence {
    const missing = Array.from(this.#missing, ([name, times]) => {
      const [service = '', namespace = ''] = name
        .slice(0, -this.#domain.length - '.svc.'.length)
        .split('.')
        .slice(-2);
      const near =
        evidence === undefined ? [] : findNearServices({ namespace, name: service }, evidence.services());
      return { service, namespace, count: times, near };
    });
    return {
      seconds,
      queries: this.#queries,
      domain: this.#domain,
      missing,
      namespaces: this.#byNamespace(),
      foreignDomains: this.#foreign,
    };
  }
}

function count(counts: Map<string, number>, key: string): void {
  if (counts.size < MAX_KEYS || counts.has(key)) counts.set(key, (counts.get(key) ?? 0) + 1);
}
