/**
 * What is counted of an upstream server.
 */
import type { DroppedPackets } from '../transport/transport.ts';
import type { UpstreamState } from './upstream-state.ts';

export interface UpstreamStatistics {
  readonly upstream: string;
  readonly state: UpstreamState;
  readonly sent: number;
  /** Counts by response code. */
  readonly replies: ReadonlyMap<number, number>;
  readonly timeouts: number;
  readonly networkErrors: number;
  /** Times that our own query came back from it. */
  readonly loops: number;
  readonly dropped: Readonly<DroppedPackets>;
  readonly inFlight: number;
  /** Milliseconds; undefined before the first reply. */
  readonly smoothedRoundTrip: number | undefined;
  /** Milliseconds that it is given for a reply now. */
  readonly timeout: number;
}

/** What another thread has sent to the server, and been told: counts since the last time. */
export interface DirectCounts {
  readonly sent: number;
  /** Replies NOERROR and NXDOMAIN. */
  readonly answers: number;
  readonly denials: number;
  readonly strange: number;
  readonly otherQuestion: number;
}
