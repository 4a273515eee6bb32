/**
 * Facts about queries under CoreDNS's labels: which pod asks, and what the name is in the cluster.
 */
import { isWithin, labelsBelow } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { FactSource, Query } from '@portolan/kernel/chain/query.ts';
import type { RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import { ZONE_LABEL } from '../../dialects/coredns/zonal-names.ts';
import { canonicalClient } from '../../names/endpoints.ts';
import type { PodIdentities, PodIdentity } from '../../names/pod-identities.ts';

const PREFIX = 'kubernetes/';
const CLIENT_LABEL = 'client-label/';
const INVALID = 'invalid query name';

/** The parts of a name below a zone; empty where the name has none. */
interface NameParts {
  readonly endpoint: string;
  readonly 'port-name': string;
  readonly protocol: string;
  readonly service: string;
  readonly namespace: string;
  /** `svc`, `pod`. */
  readonly kind: string;
  /** The zone that endpoints are selected by. */
  readonly zone: string;
}

const NO_PARTS: NameParts = {
  endpoint: '',
  'port-name': '',
  protocol: '',
  service: '',
  namespace: '',
  kind: '',
  zone: '',
};

export class QueryFacts implements FactSource {
  /** The longest first. */
  readonly #zones: readonly NameKey[];
  readonly #identities: PodIdentities | undefined;
  readonly #choosesOfSeveral: boolean;
  readonly #isZonal: boolean;

  /**
   * @param identities undefined: pods are not followed
   * @param restored with `client-of-address`, one of several pods with an address is the client, as in CoreDNS
   * @param isZonal whether names select endpoints by zone
   */
  constructor(
    zones: readonly NameKey[],
    identities: PodIdentities | undefined,
    restored: RestoredDeviations,
    isZonal = false,
  ) {
    this.#zones = [...zones].sort((one, other) => other.length - one.length);
    this.#identities = identities;
    this.#choosesOfSeveral = restored.has('client-of-address');
    this.#isZonal = isZonal;
  }

  fact(query: Query, label: string): string | undefined {
    if (!label.startsWith(PREFIX)) return undefined;
    const name = label.slice(PREFIX.length);
    if (name.startsWith('client-')) return factOfClient(this.#findPod(query), name);
    const parts = this.#parseParts(query.key);
    if (parts === 'invalid') return name === 'parse-error' ? INVALID : undefined;
    if (parts === undefined || !isPart(name) || (name === 'zone' && !this.#isZonal)) return undefined;
    return parts[name];
  }

  #findPod(query: Query): PodIdentity | undefined {
    // Answers that depend on it are for this client alone.
    const address = canonicalClient(query.dependOnClient().address);
    if (address === undefined) return undefined;
    return this.#choosesOfSeveral ? this.#identities?.all(address)[0] : this.#identities?.find(address);
  }

  /** Undefined: the name is in no zone. */
  #parseParts(name: NameKey): NameParts | 'invalid' | undefined {
    const zone = this.#zones.find((each) => isWithin(name, each));
    if (zone === undefined) return undefined;
    const labels = labelsBelow(name, zone);
    const parts = readParts(labels.toReversed());
    return this.#isZonal && parts === 'invalid' ? readZonalParts(labels) : parts;
  }
}

function factOfClient(pod: PodIdentity | undefined, name: string): string | undefined {
  if (name === 'client-namespace') return pod?.namespace;
  if (name === 'client-pod-name') return pod?.name;
  return name.startsWith(CLIENT_LABEL) ? pod?.labels.get(name.slice(CLIENT_LABEL.length)) : undefined;
}

/** @param labels below the zone, the highest first */
function readParts([kind, namespace = '', service = '', ...more]: readonly string[]): NameParts | 'invalid' {
  if (kind === undefined) return NO_PARTS;
  if ((kind !== 'svc' && kind !== 'pod') || more.length > 2) return 'invalid';
  const [first = '', second] = more;
  // CoreDNS reads the zone's own `svc` and `pod` as the zone.
  const parts = { ...NO_PARTS, kind: namespace === '' ? '' : kind, namespace, service };
  if (second === undefined) return { ...parts, endpoint: first };
  return { ...parts, protocol: withoutUnderscore(first), 'port-name': withoutUnderscore(second) };
}

/** @param labels below the zone */
function readZonalParts(labels: readonly string[]): NameParts | 'invalid' {
  const [directive, label, service = '', namespace = '', kind = ''] = labels.slice(-5);
  const isDirective = directive === 'pin' || directive === 'prefer';
  if (labels.length < 6 || kind !== 'svc' || label !== ZONE_LABEL || !isDirective) return 'invalid';
  return { ...NO_PARTS, kind, namespace, service, zone: labels.slice(0, -5).join('.') };
}

const withoutUnderscore = (label: string): string => label.replace(/^_/, '');

function isPart(name: string): name is keyof NameParts {
  return Object.hasOwn(NO_PARTS, name);
}
