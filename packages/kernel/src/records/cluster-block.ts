/**
 * The zone of a cluster as a block of the table's memory: how its names are composed.
 */
import { TYPE, type WireName } from '@portolan/dns/types.ts';
import { countLabels } from '../table/hash.ts';
import { padded } from '../table/layout.ts';
import type { RecordSpace } from '../table/record-space.ts';
import type { ZoneId } from '../table/types.ts';
import { CLUSTER, CLUSTER_FLAG } from './layout.ts';
import { SVC_OCTETS } from './service-fields.ts';

/** How the names of a cluster are composed. */
export interface ClusterSettings {
  /** Lower case. */
  readonly domain: WireName;
  readonly zone: ZoneId;
  readonly reverseZones: readonly { readonly apex: WireName; readonly zone: ZoneId }[];
  /** Seconds, 0 to 3600. */
  readonly ttl: number;
  readonly isKubeDns: boolean;
  /** Until endpoints are known, services without addresses of their own have no names. */
  readonly areEndpointsKnown: boolean;
  readonly ignoresEmptyServices: boolean;
  /** Whether headless services have names that select their endpoints by zone. */
  readonly selectsByZone: boolean;
  /** Whether the names of endpoints have the label of a cluster too. */
  readonly hasClusterLabels: boolean;
  /** Whether services have HTTPS records. */
  readonly hasHttpsRecords: boolean;
  /** Whether namespaces exist without services. */
  readonly usesNamespaces: boolean;
  readonly pods: 'disabled' | 'insecure' | 'verified';
  /** Types of records that are left out. */
  readonly filteredTypes: ReadonlySet<number>;
  /** The first of the outcomes of names, see `NAME_OUTCOME`. */
  readonly outcomes: number;
  /** The octet of the block that says where clients are; 0: answers do not depend on that. */
  readonly places: number;
}

const FILTERS = [
  [TYPE.A, CLUSTER_FLAG.WITHOUT_A],
  [TYPE.AAAA, CLUSTER_FLAG.WITHOUT_AAAA],
  [TYPE.SRV, CLUSTER_FLAG.WITHOUT_SRV],
  [TYPE.PTR, CLUSTER_FLAG.WITHOUT_PTR],
  [TYPE.CNAME, CLUSTER_FLAG.WITHOUT_CNAME],
] as const;

/** Shows a cluster's zone to readers, with one store. */
export class ClusterBlock {
  readonly #space: RecordSpace;
  #block = 0;
  #size = 0;

  constructor(space: RecordSpace) {
    this.#space = space;
  }

  /** @throws TableFullError and leaves what is shown */
  show(settings: ClusterSettings): void {
    const octets = encode(settings);
    const block = this.#space.take(octets.length);
    this.#space.views.octets.set(octets, block);
    this.#space.show(block);
    this.#leave();
    this.#block = block;
    this.#size = octets.length;
  }

  /** Shows nothing any more. */
  hide(): void {
    this.#space.show(0);
    this.#leave();
    this.#block = 0;
  }

  #leave(): void {
    if (this.#block !== 0) this.#space.retire(this.#block, this.#size);
  }
}

function encode(settings: ClusterSettings): Uint8Array {
  const { domain, reverseZones } = settings;
  const sizes = reverseZones.map(({ apex }) => 8 + padded(apex.length));
  const first = CLUSTER.NAMES + SVC_OCTETS + padded(domain.length);
  const words = new Int32Array((first + sizes.reduce((sum, size) => sum + size, 0)) >> 2);
  const octets = new Uint8Array(words.buffer);
  words[CLUSTER.FLAGS >> 2] = toFlagBits(settings);
  words[CLUSTER.SIZE >> 2] = octets.length;
  words[CLUSTER.TTL >> 2] = settings.ttl;
  words[CLUSTER.DOMAIN_SHAPE >> 2] = domain.length | (countLabels(domain) << 16);
  words[CLUSTER.ZONE >> 2] = settings.zone;
  words[CLUSTER.REVERSE_ZONES >> 2] = reverseZones.length;
  words[CLUSTER.OUTCOMES >> 2] = settings.outcomes;
  words[CLUSTER.PLACES >> 2] = settings.places;
  octets.set(Buffer.from('\x03svc', 'latin1'), CLUSTER.NAMES);
  octets.set(domain, CLUSTER.NAMES + SVC_OCTETS);
  let at = first;
  for (const [index, { apex, zone }] of reverseZones.entries()) {
    words[at >> 2] = zone;
    words[(at + 4) >> 2] = apex.length | (countLabels(apex) << 16);
    octets.set(apex, at + 8);
    at += sizes[index] ?? 0;
  }
  return octets;
}

function toFlagBits(settings: ClusterSettings): number {
  let flags = 0;
  if (settings.isKubeDns) flags |= CLUSTER_FLAG.KUBE_DNS;
  if (settings.areEndpointsKnown) flags |= CLUSTER_FLAG.ENDPOINTS_KNOWN;
  if (settings.ignoresEmptyServices) flags |= CLUSTER_FLAG.IGNORES_EMPTY;
  if (settings.selectsByZone) flags |= CLUSTER_FLAG.SELECTS_BY_ZONE;
  if (settings.hasClusterLabels) flags |= CLUSTER_FLAG.CLUSTER_LABELS;
  if (settings.hasHttpsRecords) flags |= CLUSTER_FLAG.HTTPS_RECORDS;
  if (settings.usesNamespaces) flags |= CLUSTER_FLAG.USES_NAMESPACES;
  if (settings.pods !== 'disabled') flags |= CLUSTER_FLAG.PODS;
  if (settings.pods === 'verified') flags |= CLUSTER_FLAG.PODS_VERIFIED;
  for (const [type, flag] of FILTERS) if (settings.filteredTypes.has(type)) flags |= flag;
  return flags;
}
