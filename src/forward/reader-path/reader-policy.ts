/**
 * What reader threads may forward by themselves: made by the main thread, which posts it to them whenever it changes.
 */
import type { SocketAddress } from '../../socket/addresses.ts';
import type { WireName } from '../../wire/types.ts';
import type { CachingRules } from '../caching/caching-rules.ts';

/** The server that questions go to as long as the policy holds, and what clients are told of its replies. */
export interface OpenRoute {
  /** The main thread's number of the server. */
  readonly server: number;
  readonly peer: SocketAddress;
  /** Octets of a reply that we take over UDP. */
  readonly udpSize: number;
  /** Whether the server is trusted to have validated what it marks with AD. */
  readonly trustsAd: boolean;
  /** Queries under way, of all threads, from which on the main thread decides whose turn it is. */
  readonly limit: number;
  /** Milliseconds for which a late reply is still of use. */
  readonly deadline: number;
  /** Names with all below them that handlers or other servers answer, in lower case. */
  readonly exceptions: readonly WireName[];
  /** Whether a reply that there is no such name is told as it is. */
  readonly believesDenials: boolean;
  /** Whether an expired answer is served before a new one has come. */
  readonly servesStaleAtOnce: boolean;
  readonly caching: CachingRules;
  /** What answers are counted as, see `table/counters.ts`. */
  readonly outcome: number;
  /** What they are counted as when they come from the cache. */
  readonly keptOutcome: number;
}

export interface ReaderPolicy {
  /** Grows with each policy. */
  readonly number: number;
  /** Undefined: the main thread forwards everything. */
  readonly route: OpenRoute | undefined;
}

export const CLOSED_POLICY: ReaderPolicy = { number: 0, route: undefined };
