/**
 * Describes the server in class CHAOS: its version and its counts, under dnsmasq's names.
 *
 * The sidecar of kube-dns derives its metrics from these answers, so each count is one string with a number.
 */
import type { Answer } from '../../chain/answer.ts';
import type { Handler } from '../../chain/handler.ts';
import { NO_QUESTIONS } from '../../chain/match.ts';
import { CLASS, TYPE } from '../../wire/types.ts';

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

export interface ChaosAnswers {
  /** Whether it answers the class at all. */
  readonly identifies: boolean;
  /** Undefined: it is not known. */
  readonly version: string | undefined;
  readonly authors: string;
  readonly copyright: string;
  /** For `hostname.bind` and `id.server`; undefined: they are not known. */
  readonly hostName?: string | undefined;
  /** Whether `version.server` is known too. Default: no, as in dnsmasq. */
  readonly knowsVersionServer?: boolean | undefined;
  /** Whether counts are answered, and all further names with NOTIMP. Default: yes. */
  readonly hasCounts?: boolean | undefined;
  /** TTL of constant answers, in seconds. Counts have TTL 0. */
  readonly ttl: number;
  readonly stats: () => ChaosStats;
}

/** Maximum length of one string in a TXT record. */
const MAX_OCTETS = 255;

/** Answers questions of class CHAOS; passes on other classes. */
export function createChaosHandler(options: ChaosAnswers): Handler {
  const { identifies, hasCounts = true, ttl, stats } = options;
  const constants = constantsOf(options);
  const handle: Handler['handle'] = (query, next): Answer | Promise<Answer> => {
    const { question, key } = query;
    if (question.class !== CLASS.CH) return next(query);
    const constant = constants.get(key);
    const counts = hasCounts ? COUNTS.get(key) : undefined;
    const isAsked = identifies && (question.type === TYPE.TXT || question.type === TYPE.ANY);
    if (!isAsked || (constant === undefined && counts === undefined))
      return hasCounts ? { kind: 'notimp' } : next(query);
    const strings = counts === undefined ? [constant ?? ''] : counts(stats());
    // A TXT record has one string at least.
    const data = { kind: 'TXT', strings: (strings.length > 0 ? strings : ['']).map(octetsOf) } as const;
    const record = { name: question.name, class: CLASS.CH, ttl: constant === undefined ? 0 : ttl, data };
    return { kind: 'records', records: [record], additionals: [], authoritative: true };
  };
  return {
    name: 'chaos',
    role: 'other',
    questions: NO_QUESTIONS,
    answers: 'unchanged',
    answersClasses: 'chaos',
    handle,
  };
}

/** RFC 4892, and the names of BIND before it. */
function constantsOf(options: ChaosAnswers): ReadonlyMap<string, string> {
  const { version, authors, copyright, hostName, knowsVersionServer = false } = options;
  const all: readonly (readonly [name: string, text: string | undefined])[] = [
    ['version.bind.', version],
    ['version.server.', knowsVersionServer ? version : undefined],
    ['hostname.bind.', hostName],
    ['id.server.', hostName],
    ['authors.bind.', authors],
    ['copyright.bind.', copyright],
  ];
  return new Map(all.flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])));
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

function octetsOf(text: string): Uint8Array {
  return Buffer.from(text).subarray(0, MAX_OCTETS);
}
