/**
 * The questions of clients: the mix of a cluster whose pods search five domains before they query a name as it is.
 */
import { type Cluster, PORT, toServiceName, ZONE } from './cluster.ts';
import { createRandom, pick, type Random } from './random.ts';

/** Shares of the whole, in percent. */
export const MIX = { A: 45, AAAA: 30, SRV: 5, searchMiss: 15, absent: 5 } as const;

/** How many of a hundred answers are NXDOMAIN. */
export const NXDOMAIN_PERCENT = MIX.searchMiss + MIX.absent;

const OUTSIDE = [
  'www.google.com',
  'api.github.com',
  'registry.npmjs.org',
  's3.amazonaws.com',
  'ntp.ubuntu.com',
];
const ABSENT_PER_NAMESPACE = 25;
const SEED = 53;

type Ask = (random: Random, cluster: Cluster) => string;

const ASK: Readonly<Record<keyof typeof MIX, Ask>> = {
  A: (random, cluster) => `${toServiceName(pick(random, cluster.services))} A`,
  AAAA: (random, cluster) => `${toServiceName(pick(random, cluster.services))} AAAA`,
  SRV: (random, cluster) => `_${PORT.name}._tcp.${toServiceName(pick(random, cluster.services))} SRV`,
  searchMiss: (random, cluster) =>
    `${pick(random, OUTSIDE)}.${pick(random, cluster.namespaces)}.svc.${ZONE} ${addressType(random)}`,
  absent: (random, cluster) => {
    const name = `absent-${Math.floor(random() * ABSENT_PER_NAMESPACE)}`;
    return `${name}.${pick(random, cluster.namespaces)}.svc.${ZONE} ${addressType(random)}`;
  },
};

/** Resolvers ask for both at once. */
function addressType(random: Random): 'A' | 'AAAA' {
  return random() < 0.5 ? 'A' : 'AAAA';
}

/**
 * Lines of dnsperf's input file, `name type`, in random order; the shares of the mix are exact.
 *
 * @param count a multiple of 100
 */
export function writeQuestions(cluster: Cluster, count = 20_000): readonly string[] {
  const random = createRandom(SEED);
  const lines = Object.entries(MIX).flatMap(([kind, percent]) => {
    const ask = ASK[kind as keyof typeof MIX]; // The keys of MIX are those of ASK.
    return Array.from({ length: (count * percent) / 100 }, () => ask(random, cluster));
  });
  return shuffle(random, lines);
}

function shuffle(random: Random, lines: readonly string[]): readonly string[] {
  return lines
    .map((line) => ({ line, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ line }) => line);
}
