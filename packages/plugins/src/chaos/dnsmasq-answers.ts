/**
 * The names of class CHAOS as dnsmasq and kube-dns answer them: identity and counts.
 *
 * The sidecar of kube-dns derives its metrics from these answers, so each count is one string with a number.
 */
import { type ChaosAnswers, type ChaosRecords, cutString } from './chaos.ts';
import type { DnsmasqIdentity } from './options.ts';

/** Counts since the start. */
export interface ChaosStats {
  /** Maximum number of cached answers. */
  readonly cacheSize: number;
  readonly insertions: number;
  /** Cached answers that were evicted before they expired. */
  readonly evictions: number;
  /** Questions that were forwarded. */
  readonly misses: number;
  /** Questions that were answered without asking a server. */
  readonly hits: number;
  readonly servers: readonly ServerStats[];
}

export interface ServerStats {
  /** `127.0.0.1#53`. */
  readonly server: string;
  readonly queries: number;
  readonly failed: number;
}

/** What the server is, where the options tell it. */
export interface ServerIdentity {
  readonly version: string;
  readonly authors: string;
  readonly copyright: string;
  readonly hostName: string;
}

export function answerAsDnsmasq(
  options: DnsmasqIdentity,
  identity: ServerIdentity,
  stats: () => ChaosStats,
): ChaosAnswers {
  const { identifies, ttl, hasCounts = true } = options;
  return {
    constants: identifies ? findConstants(options, identity) : new Map(),
    ttl,
    counts: identifies && hasCounts ? createCountRecords(stats) : new Map(),
    answersAny: true,
    authoritative: true,
    further: hasCounts ? 'notimp' : 'next',
  };
}

/** RFC 4892, and the names of BIND before it. */
function findConstants(
  { namesHost = false, version: shown }: DnsmasqIdentity,
  { version, authors, copyright, hostName }: ServerIdentity,
): ReadonlyMap<string, ChaosRecords> {
  const all: readonly (readonly [name: string, text: string, isKnown: boolean])[] = [
    ['version.bind.', version, shown !== 'none'],
    ['version.server.', version, shown === 'all'],
    ['hostname.bind.', hostName, namesHost],
    ['id.server.', hostName, namesHost],
    ['authors.bind.', authors, true],
    ['copyright.bind.', copyright, true],
  ];
  return new Map(all.flatMap(([name, text, isKnown]) => (isKnown ? [[name, [toStrings([text])]]] : [])));
}

function createCountRecords(stats: () => ChaosStats): ReadonlyMap<string, () => ChaosRecords> {
  return new Map([...COUNTS].map(([name, write]) => [name, () => [toStrings(write(stats()))]]));
}

const COUNTS: ReadonlyMap<string, (stats: ChaosStats) => readonly string[]> = new Map([
  ['cachesize.bind.', ({ cacheSize }: ChaosStats) => [String(cacheSize)]],
  ['insertions.bind.', ({ insertions }: ChaosStats) => [String(insertions)]],
  ['evictions.bind.', ({ evictions }: ChaosStats) => [String(evictions)]],
  ['misses.bind.', ({ misses }: ChaosStats) => [String(misses)]],
  ['hits.bind.', ({ hits }: ChaosStats) => [String(hits)]],
  // We hold no zones of other servers.
  ['auth.bind.', () => ['0']],
  [
    'servers.bind.',
    ({ servers }: ChaosStats) =>
      servers.map(({ server, queries, failed }) => `${server} ${queries} ${failed}`),
  ],
]);

/** The strings of one record, which has one at least. */
function toStrings(texts: readonly string[]): readonly Uint8Array[] {
  return (texts.length > 0 ? texts : ['']).flatMap((text) => cutString(Buffer.from(text)));
}
