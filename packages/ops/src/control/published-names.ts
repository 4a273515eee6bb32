/**
 * The services that a server publishes, for comparison with other servers, and which of them appeared or disappeared.
 */
import { makeBuckets } from '@portolan/kernel/records/service-digest.ts';
import { clustersIn } from '@portolan/kubernetes/plugins/kubernetes/inspected-cluster.ts';
import type { Cluster } from '@portolan/kubernetes/publish/cluster.ts';
import type { FormerDigest } from '@portolan/kubernetes/publish/service-log.ts';
import type { Server } from '@portolan/server/server.ts';

/** The zone of a cluster. Readers ignore fields that they do not know. */
export interface ZoneDigest {
  /** The apex. */
  readonly domain: string;
  readonly services: number;
  /** Equal in all servers that have the same services with the same addresses and ports. */
  readonly digest: string;
}

export interface ZoneBuckets extends ZoneDigest {
  /** Digests that it had before, the latest first; each until `age` milliseconds ago. */
  readonly former: readonly FormerDigest[];
  /** The digests of 256 parts of the services. */
  readonly buckets: readonly string[];
}

export interface HashedName {
  readonly domain: string;
  /** `cart.shop`. */
  readonly name: string;
  /** Of its name and its data. */
  readonly hash: string;
}

/** Services to look at before other work. */
const PART = 500;

type Inspected = { readonly engine: Pick<Server['engine'], 'serverBlocks'> };

/** The digests of all zones of clusters. */
export function readZones(server: Inspected): readonly ZoneDigest[] {
  return listClusters(server).map(({ cluster, domain }) => toZoneDigest(cluster, domain));
}

/** @param bucket whose services are listed; undefined: the digests of all buckets */
export async function* listNames(
  server: Inspected,
  bucket: number | undefined,
): AsyncIterable<ZoneBuckets | HashedName> {
  for (const { cluster, domain } of listClusters(server)) {
    const zone = { ...toZoneDigest(cluster, domain), former: cluster.log.formerDigests };
    const buckets = makeBuckets();
    const found: HashedName[] = [];
    let seen = 0;
    for (const namespace of [...cluster.contents.namespaces()]) {
      for (const { name, bucket: own, hash } of cluster.contents.hashedServices(namespace)) {
        seen += 1;
        if (bucket === undefined) buckets[own]?.add(hash);
        else if (own === bucket) found.push({ domain, name: `${name}.${namespace}`, hash: hash.text });
      }
      if (seen < PART) continue;
      seen = 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (bucket === undefined) yield { ...zone, buckets: buckets.map(({ text }) => text) };
    else yield* found;
  }
}

/** The latest first. */
export function* listChanges(server: Inspected, rows: number): Iterable<unknown> {
  for (const { cluster, domain } of listClusters(server)) {
    let left = rows;
    for (const { at, namespace, name, change } of cluster.log.changes()) {
      if (left-- === 0) break;
      yield { at: new Date(at).toISOString(), domain, name: `${name}.${namespace}`, change };
    }
  }
}

function listClusters({ engine }: Inspected) {
  return clustersIn(engine.serverBlocks.inspect()).map(({ cluster }) => ({
    cluster,
    domain: cluster.names.apexes[0] ?? '.',
  }));
}

function toZoneDigest({ log, services }: Cluster, domain: string): ZoneDigest {
  return { domain, services: services.count(), digest: log.digest };
}
