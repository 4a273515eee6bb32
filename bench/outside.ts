/**
 * Names outside the cluster: one domain, served by an upstream on loopback, in which every name below `there` has addresses
 * and all other names do not exist.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRandom } from './random.ts';
import type { Workplace } from './workplace.ts';

export const DOMAIN = 'outside.example';
export const ADDRESSES = { A: '192.0.2.1', AAAA: '2001:db8::1' } as const;
/** A name that has an address. */
export const KNOWN = `known.there.${DOMAIN}`;
/** TTLs in seconds; each has a domain `live-N`, in which every name has an address. */
export const LIFETIMES = [1, 5, 30, 60, 300] as const;
/** More than any server reaches: a turn must not ask for a name twice. */
const MAX_QUERIES_PER_SECOND = 60_000;
/** Names that the mix is drawn from. */
const MIXED_NAMES = 100_000;
const MIX_SEED = 53;

/** Lines of dnsperf's input file, in a file that is there until the measurements end. */
export async function saveLines(
  { folder }: Workplace,
  name: string,
  lines: readonly string[],
): Promise<string> {
  const path = join(folder, `questions-${name}`);
  await writeFile(path, `${lines.join('\n')}\n`);
  return path;
}

/** Names that stay the same from run to run, each asked for A and AAAA, so that all are cached after one pass. */
export function listKnownNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `host-${index}.there.${DOMAIN}`).flatMap((name) =>
    Object.keys(ADDRESSES).map((type) => `${name} ${type}`),
  );
}

type NewName = 'there' | 'live-300' | 'absent';

/**
 * More names than a server answers in the time given, none of which was asked for before.
 *
 * @param turn a number that no other turn has
 * @param kinds below `there` and `live-300`, where all names exist, or beside them, where none does; several take turns
 */
export function listNewNames(turn: number, seconds: number, ...kinds: readonly NewName[]): readonly string[] {
  const random = createRandom(turn);
  return Array.from({ length: Math.ceil(seconds * MAX_QUERIES_PER_SECOND) }, (_, index) => {
    const label = Math.floor(random() * 2 ** 32).toString(36);
    return `${label}-${turn}-${index.toString(36)}.${kinds[index % kinds.length]}.${DOMAIN} A`;
  });
}

/**
 * Names whose answers live for a second, so many that those of one pass have expired when the next one comes to them.
 *
 * @param queriesPerSecond that no server exceeds
 */
export function listExpiringNames(queriesPerSecond = MAX_QUERIES_PER_SECOND): readonly string[] {
  return Array.from({ length: queriesPerSecond * 2 }, (_, index) => `host-${index}.live-1.${DOMAIN} A`);
}

/** As clients ask: a few names very often and many seldom (Zipf's law), with TTLs from 5 to 300 s. */
export function listMixedNames(count: number): readonly string[] {
  const random = createRandom(MIX_SEED);
  const lifetimes = LIFETIMES.filter((ttl) => ttl > 1);
  // The chance of being at most the nth is log n / log N, so the nth is asked for in proportion to 1/n.
  return Array.from({ length: count }, () => {
    const rank = Math.floor(MIXED_NAMES ** random());
    return `host-${rank}.live-${lifetimes[rank % lifetimes.length]}.${DOMAIN} A`;
  });
}
