/**
 * What reader threads may forward by themselves: made by the main thread, which posts it to them whenever it changes.
 */
import type { SocketAddress } from '../../socket/addresses.ts';
import type { ViewId } from '../../table/types.ts';
import type { WireName } from '../../wire/types.ts';
import type { AnswerForm } from '../caching/answer-form.ts';
import type { ServerSelection } from '../direct-route.ts';
import type { StreamTerms } from '../transport/transport.ts';

/** A server that readers may ask now. */
export interface RouteServer {
  /** The main thread's number of it. */
  readonly number: number;
  readonly peer: SocketAddress;
  /** Undefined: it is asked over UDP. */
  readonly stream: StreamTerms | undefined;
}

/** Where the questions go that views with the number of the route leave open, and how clients are answered by the replies. */
export interface OpenRoute {
  /** That views name it by. */
  readonly number: number;
  /** The number of its group of servers: queries under way are counted by it. */
  readonly group: number;
  /** At least one. */
  readonly servers: readonly RouteServer[];
  readonly selection: ServerSelection;
  /** Octets of a reply that we take over UDP. */
  readonly udpSize: number;
  /** Whether servers are trusted to have validated what they mark with AD. */
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
  readonly form: AnswerForm;
  /** A view with the cache that answers are kept in; undefined: readers make no entries. */
  readonly cacheView: ViewId | undefined;
  readonly outcomes: RouteOutcomes;
}

/** What answers are counted as, see `table/counters.ts`. */
export interface RouteOutcomes {
  readonly forwarded: number;
  /** Whether the outcomes behind `forwarded` are those of IPv6 and of TCP, as in a view that has outcomes of its own. */
  readonly byPath: boolean;
  /** Entries of the cache that are made: answers with records, and denials. */
  readonly kept: { readonly positive: number; readonly negative: number };
  /** Answers by a reply that is about to be in the cache. */
  readonly repeated: { readonly positive: number; readonly negative: number };
}

export interface ReaderPolicy {
  /** Grows with each policy. */
  readonly number: number;
  /** For all other questions the main thread forwards. */
  readonly routes: readonly OpenRoute[];
}

export const CLOSED_POLICY: ReaderPolicy = { number: 0, routes: [] };
