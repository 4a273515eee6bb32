/**
 * A client's connection as its listener sees it, whatever the protocol on it.
 */

export interface ConnectionLimits {
  /** How long a connection may go without a complete query while no answer is pending (RFC 7766 section 6.2.3). */
  readonly idleMilliseconds: number;
  /** How long a new connection may take to complete its first query. Default: the idle time. */
  readonly readMilliseconds?: number | undefined;
  /** How long the client may leave answers unread. Default: the idle time. */
  readonly writeMilliseconds?: number | undefined;
  /** After this many queries the client has to reconnect, perhaps to another server. */
  readonly queries: number;
  readonly ageMilliseconds: number;
  /** Maximum of pending answers; further queries wait unread. */
  readonly owed: number;
  /** How long an ending connection may take to send its answers and see the client's FIN. */
  readonly endingMilliseconds: number;
}

/**
 * Why a connection ended. `header`: the header of its proxy was malformed, rejected, or cut off. `handshake`: the client and the
 * listener did not agree on TLS. `evicted`: its place was needed. `unread`: it
 * held too many octets, since the client did not read its answers. `error`: a reset, or answers not read in time.
 */
export const END_REASONS = [
  'client',
  'garbage',
  'header',
  'handshake',
  'idle',
  'queries',
  'age',
  'leaving',
  'evicted',
  'unread',
  'error',
] as const;
export type EndReason = (typeof END_REASONS)[number];

export interface ServedConnection {
  /** Complete queries received. */
  readonly queries: number;
  /** Last activity, by the clock's monotonic time: opened, queried, or answered. */
  readonly lastActive: number;
  /** Octets of unanswered queries, and of answers that the client has not read. */
  readonly heldOctets: number;
  /** Whether it can be closed without loss: no answer is pending, or it is ending. */
  readonly isIdle: boolean;
  /** Makes the client reconnect: ends now, or after its first query if it has not sent one yet. */
  leave(): void;
  /** Ends it if it has been idle for this long. */
  endIfIdleFor(milliseconds: number): void;
  /** Closes it at once, even with pending answers. */
  cut(reason: EndReason): void;
  destroy(): void;
}

/** Callbacks from a connection to its listener. */
export interface ConnectionEvents {
  /** The connection is closed. Called once. */
  onEnd(connection: ServedConnection, reason: EndReason): void;
  /** It holds `more` octets more than before; negative: fewer. */
  onHeld(connection: ServedConnection, more: number): void;
}
