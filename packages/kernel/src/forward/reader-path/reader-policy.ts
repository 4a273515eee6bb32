/**
 * What reader threads may forward by themselves: the main thread makes the policy and posts each change.
 */
import type { WireName } from '@portolan/dns/types.ts';
import type { SocketAddress } from '../../socket/addresses.ts';
import type { ViewId } from '../../table/types.ts';
import type { AnswerForm } from '../caching/answer-form.ts';
import type { ServerSelection } from '../direct-route.ts';
import type { DirectStream } from '../transport/transport.ts';

/** A server that readers may ask now. */
export interface RouteServer {
  /** Its number on the main thread. */
  readonly number: number;
  readonly peer: SocketAddress;
  /** Undefined: use UDP. */
  readonly stream: DirectStream | undefined;
  /** If not, questions with DO are left to the main thread. */
  readonly usesEdns: boolean;
}

/** Where to forward questions that views with this route number leave open, and how to answer clients from the replies. */
export interface OpenRoute {
  /** The number that views use. */
  readonly number: number;
  /** The number of its group of servers, by which queries in flight are counted. */
  readonly group: number;
  /** At least one. */
  readonly servers: readonly RouteServer[];
  readonly selection: ServerSelection;
  /** The UDP size in our queries, in octets. */
  readonly udpSize: number;
  /** Whether to trust the AD bit of the servers. */
  readonly trustsAd: boolean;
  /** Whether queries carry EDNS options of clients that servers may act on. */
  readonly passesOptions: boolean;
  /** Number of queries in flight, of all threads, from which the main thread decides whose turn it is. */
  readonly limit: number;
  /** Milliseconds for which a late reply is still useful. */
  readonly deadline: number;
  /** Names that handlers or other servers answer, with all names below them, in lower case. */
  readonly exceptions: readonly WireName[];
  /** Names with fewer labels are answered by others. */
  readonly minLabels: number;
  /** Whether an NXDOMAIN reply may be passed on unchanged. */
  readonly believesDenials: boolean;
  /** Whether to serve an expired answer while a new one is fetched. */
  readonly servesStaleAtOnce: boolean;
  readonly form: AnswerForm;
  /** A view with the cache for answers; undefined: readers make no entries. */
  readonly cacheView: ViewId | undefined;
  readonly outcomes: RouteOutcomes;
}

/** The outcomes of answers, see `table/counters.ts`. */
export interface RouteOutcomes {
  readonly forwarded: number;
  /** Whether outcomes for IPv6 and TCP follow `forwarded`, as in a view with its own outcomes. */
  readonly byPath: boolean;
  /** Outcomes for new cache entries: answers with records, and denials. */
  readonly kept: { readonly positive: number; readonly negative: number };
  /** Outcomes for answers from a reply that is not in the cache yet. */
  readonly repeated: { readonly positive: number; readonly negative: number };
}

export interface ReaderPolicy {
  /** Increases with each policy. */
  readonly number: number;
  /** The main thread forwards all other questions. */
  readonly routes: readonly OpenRoute[];
}

export const CLOSED_POLICY: ReaderPolicy = { number: 0, routes: [] };
