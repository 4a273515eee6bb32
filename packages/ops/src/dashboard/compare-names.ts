/**
 * Compares the services that replicas publish, where their digests differ.
 */
import type { HashedName, ZoneBuckets } from '../control/published-names.ts';
import type { ReplicaFinding, ReplicaState } from './page-state.ts';
import type { ShownReplica } from './replica.ts';
import { readNamedService, readZoneNames } from './replica-answers.ts';

/** Milliseconds that a replica may be behind: the API server does not tell all of them at once. */
const MAX_LAG = 15_000;
/** Comparisons in a row that must show a difference. */
const MIN_TIMES = 2;
const MAX_PAIRS = 4;
const MAX_BUCKETS = 8;
const MAX_NAMES = 5;

/** How a replica differs from another. Names as in `cart.shop`. */
export interface NameDifference {
  readonly lacks: readonly string[];
  readonly hasBesides: readonly string[];
  /** Both have it, with other addresses or ports. */
  readonly differs: readonly string[];
}

/** A replica, and one with the digest that most replicas have. */
interface ComparedReplicas {
  readonly domain: string;
  readonly replica: string;
  readonly other: string;
}

/** Replicas of one version whose digest of a zone is not that of most others. */
export function findPairs(replicas: readonly ReplicaState[]): readonly ComparedReplicas[] {
  const zones = new Map<string, { readonly name: string; readonly digest: string }[]>();
  // Another version may keep its records in another form.
  for (const { name, status } of replicas)
    for (const { domain, digest } of status?.ready === true ? status.zones : []) {
      const key = `${status?.version} ${domain}`;
      zones.set(key, [...(zones.get(key) ?? []), { name, digest }]);
    }
  return [...zones].flatMap(([key, all]) => {
    const domain = key.slice(key.indexOf(' ') + 1);
    const usual = mostFrequent(all.map(({ digest }) => digest));
    const other = all.find(({ digest }) => digest === usual)?.name ?? '';
    return all
      .filter(({ digest }) => digest !== usual)
      .map(({ name: replica }) => ({ domain, replica, other }));
  });
}

function mostFrequent(digests: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const digest of digests) counts.set(digest, (counts.get(digest) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0];
}

/** For how many milliseconds one of them has been behind the other. Infinity: they have had no digest in common. */
export function lagBetween(one: ZoneBuckets, other: ZoneBuckets): number {
  if (one.digest === other.digest) return 0;
  const agesIn = ({ former }: ZoneBuckets, digest: string) =>
    former.find((each) => each.digest === digest)?.age ?? Number.POSITIVE_INFINITY;
  return Math.min(agesIn(one, other.digest), agesIn(other, one.digest));
}

export function compareServices(one: readonly HashedName[], other: readonly HashedName[]): NameDifference {
  const own = new Map(one.map(({ name, hash }) => [name, hash]));
  const others = new Map(other.map(({ name, hash }) => [name, hash]));
  return {
    lacks: [...others.keys()].filter((name) => !own.has(name)).sort(),
    hasBesides: [...own.keys()].filter((name) => !others.has(name)).sort(),
    differs: [...own]
      .filter(([name, hash]) => (others.get(name) ?? hash) !== hash)
      .map(([name]) => name)
      .sort(),
  };
}

export function describeDifference(
  { domain, replica, other }: ComparedReplicas,
  { lacks, hasBesides, differs }: NameDifference,
): ReplicaFinding {
  const parts = [
    ...(lacks.length > 0 ? [`lacks ${listed(lacks)}`] : []),
    ...(hasBesides.length > 0 ? [`still has ${listed(hasBesides)}`] : []),
    ...(differs.length > 0 ? [`has other addresses or ports of ${listed(differs)}`] : []),
  ];
  const sentence = parts.length === 0 ? 'has other services' : parts.join(', and ');
  return {
    kind: 'replicas-differ',
    severity: 'problem',
    subject: `${domain} in ${replica}`,
    sentence: `${replica} ${sentence}, other than ${other}`,
    remedies: [
      {
        sentence: 'See whether the replica follows all kinds of objects.',
        command: 'portolan control status',
      },
      { sentence: 'Restart the replica: it then lists the cluster again.' },
    ],
    replicas: [replica],
  };
}

function listed(names: readonly string[]): string {
  const rest = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** Compares replicas again and again. */
export class NameComparison {
  /** How often in a row a replica differed. */
  #times = new Map<string, number>();
  #findings: readonly ReplicaFinding[] = [];

  /** Of the latest comparison. */
  get findings(): readonly ReplicaFinding[] {
    return this.#findings;
  }

  /** Asks nothing while all digests are equal. */
  async compare(
    states: readonly ReplicaState[],
    replicas: ReadonlyMap<string, ShownReplica>,
    signal: AbortSignal,
  ): Promise<void> {
    const times = new Map<string, number>();
    const findings: ReplicaFinding[] = [];
    for (const pair of findPairs(states).slice(0, MAX_PAIRS)) {
      const one = replicas.get(pair.replica);
      const other = replicas.get(pair.other);
      if (one === undefined || other === undefined) continue;
      const found = await compareTwo(pair, one, other, signal).catch(() => undefined);
      if (found === undefined) continue;
      const key = `${pair.domain} ${pair.replica}`;
      times.set(key, (this.#times.get(key) ?? 0) + 1);
      if ((times.get(key) ?? 0) >= MIN_TIMES) findings.push(describeDifference(pair, found));
    }
    this.#times = times;
    this.#findings = findings;
  }
}

/** Undefined: they are at most a few seconds apart. */
async function compareTwo(
  { domain }: ComparedReplicas,
  one: ShownReplica,
  other: ShownReplica,
  signal: AbortSignal,
): Promise<NameDifference | undefined> {
  const [own, others] = await Promise.all([readZone(one, domain, signal), readZone(other, domain, signal)]);
  if (own === undefined || others === undefined || lagBetween(own, others) <= MAX_LAG) return undefined;
  const buckets = own.buckets.flatMap((digest, bucket) =>
    digest === others.buckets[bucket] ? [] : [bucket],
  );
  const [ownNames, otherNames]: [HashedName[], HashedName[]] = [[], []];
  for (const bucket of buckets.slice(0, MAX_BUCKETS)) {
    ownNames.push(...(await readBucket(one, domain, bucket, signal)));
    otherNames.push(...(await readBucket(other, domain, bucket, signal)));
  }
  return compareServices(ownNames, otherNames);
}

async function readZone(
  replica: ShownReplica,
  domain: string,
  signal: AbortSignal,
): Promise<ZoneBuckets | undefined> {
  for await (const data of replica.ask({ verb: 'names', words: [] }, signal)) {
    const zone = readZoneNames(data);
    if (zone.domain === domain) return zone;
  }
  return undefined;
}

async function readBucket(
  replica: ShownReplica,
  domain: string,
  bucket: number,
  signal: AbortSignal,
): Promise<readonly HashedName[]> {
  const words = [bucket.toString(16).padStart(2, '0')];
  const found: HashedName[] = [];
  for await (const data of replica.ask({ verb: 'names', words }, signal)) {
    const service = readNamedService(data);
    if (service.domain === domain) found.push(service);
  }
  return found;
}
