/**
 * A question that waits for its answer on the main thread: its octets, the client, and the socket for the answer.
 *
 * Objects are reused: every question that readers cannot answer needs one.
 */
import type { Client } from '../chain/query.ts';
import type { QueryOctets, TakenOver } from '../forward/reader-path/reader-host.ts';
import { ENVELOPE } from '../socket/envelope.ts';
import type { ClientRuleChecker } from './client-rules.ts';
import type { Work } from './fair-scheduler.ts';
import type { ListenerDrops } from './listener-drops.ts';
import type { QuestionTarget } from './question-ring.ts';

/** The facts that all clients of a socket share. */
export type SlowPathOrigin = Pick<Client, 'localAddress' | 'localPort'> & { readonly group: number };

export const NO_ORIGIN: SlowPathOrigin = { group: 0 };

/** Gets questions answered. */
interface QueryOwner {
  /** Called when it is the turn of the question's client. */
  begin(question: SlowPathQuery): void;
  /** Called in place of `begin` if the question is not to be answered. */
  drop(question: SlowPathQuery, why: 'late' | 'full'): void;
}

/** Enough for nearly every query. */
const COMMON_QUERY_OCTETS = 512;

export class SlowPathQuery implements QuestionTarget, QueryOctets, Work {
  octets = new Uint8Array(ENVELOPE.OCTETS + COMMON_QUERY_OCTETS);
  view = new DataView(this.octets.buffer);
  readonly start = ENVELOPE.OCTETS;
  socket = 0;
  length = 0;
  readonly about: TakenOver = { ticket: 0, server: 0, elapsed: 0 };
  client = '';
  origin = NO_ORIGIN;
  /** What clients of its socket may do; undefined: everything. */
  rules: ClientRuleChecker | undefined;
  /** Where to count it if it is dropped; undefined: nowhere. */
  drops: ListenerDrops | undefined;
  /** The descriptor of its socket. */
  fd = -1;
  /** When it was taken, by the clock of query events; 0 without events. */
  received = 0;
  /** By the monotonic clock: when a reader received it, and from when on its client does not wait. */
  arrived = 0;
  expires = 0;
  readonly #owner: QueryOwner;

  constructor(owner: QueryOwner) {
    this.#owner = owner;
  }

  /** Whether its memory has the common size. */
  get isCommonSize(): boolean {
    return this.octets.length === ENVELOPE.OCTETS + COMMON_QUERY_OCTETS;
  }

  enlarge(octets: number): void {
    this.octets = new Uint8Array(octets);
    this.view = new DataView(this.octets.buffer);
  }

  /** The query, in memory that the next question overwrites. */
  packet(): Uint8Array {
    return this.octets.subarray(this.start, this.start + this.length);
  }

  /** A copy of the query. */
  query(): Uint8Array {
    return this.octets.slice(this.start, this.start + this.length);
  }

  serve(): void {
    this.#owner.begin(this);
  }

  drop(why: 'late' | 'full'): void {
    this.#owner.drop(this, why);
  }
}
