/**
 * Counts of an upstream server.
 */
import type { DroppedPackets } from '../transport/transport.ts';
import type { UpstreamState } from './upstream-state.ts';

export interface UpstreamStatistics {
  readonly upstream: string;
  readonly state: UpstreamState;
  /** Milliseconds for which it has been in this state; a further failure does not change it. */
  readonly stateAge: number;
  /** Milliseconds since its last reply; undefined: it has not replied yet. */
  readonly lastReplyAge: number | undefined;
  readonly sent: number;
  /** Counts by response code. */
  readonly replies: ReadonlyMap<number, number>;
  readonly timeouts: number;
  readonly networkErrors: number;
  /** How often our own query came back from it. */
  readonly loops: number;
  readonly dropped: Readonly<DroppedPackets>;
  readonly inFlight: number;
  /** Milliseconds; undefined before the first reply. */
  readonly smoothedRoundTrip: number | undefined;
  /** Its current time-out in milliseconds. */
  readonly timeout: number;
}

/** The traffic of another thread with the server: counts since the last call. */
export interface DirectCounts {
  readonly sent: number;
  /** NOERROR and NXDOMAIN replies. */
  readonly answers: number;
  readonly denials: number;
  readonly strange: number;
  readonly otherQuestion: number;
}
