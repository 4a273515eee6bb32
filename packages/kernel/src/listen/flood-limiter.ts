/**
 * Makes the kernel drop most packets of clients that flood a socket, for as long as they do.
 *
 * A reader can drop packets only after it receives them, and beside other work it may be too late: then the receive
 * buffer is full, and the kernel drops packets of all clients. A client that keeps filling the buffer although the
 * reader sheds its packets is limited in the kernel. Limits need at least one other active client: otherwise they would
 * help nobody.
 */
import { addressOctets } from '../socket/addresses.ts';
import { type LimitedClient, MAX_LIMITED_CLIENTS } from '../socket/client-filter.ts';

/** A client is limited after this many batches in one period, each with a filling buffer and a large part of the client's packets. */
const MAX_STRIKES = 8;
/** Milliseconds between two reviews of the limited clients. */
const PERIOD = 1000;
/** Milliseconds until a limit takes effect: packets already in the buffer came before it. */
const SETTLING = 100;
/** A limited client with at least this many packets a second still floods. */
const FLOOD_RATE = 10_000;
/** One packet in this many passes: at first, and when that is not enough. */
const FIRST_SHARE = 16;
const FURTHER = 4;
const MAX_SHARE = 256;

interface Limited extends LimitedClient {
  share: number;
  readonly group: number;
}

export interface FloodLimiterOptions {
  /** Number of client groups that packets are counted by. */
  readonly groups: number;
  /** Limits exactly these clients. @returns false if the kernel has no such filter */
  readonly limit: (clients: readonly LimitedClient[]) => boolean;
  /** Called when a client is limited, or limited further. `client`: where its socket address begins. */
  readonly onLimited: (octets: Uint8Array, client: number, share: number) => void;
}

export class FloodLimiter {
  readonly #options: FloodLimiterOptions;
  readonly #strikes: Uint8Array;
  /** Packets that passed in this period, by group. */
  readonly #counted: Uint32Array;
  #limited: Limited[] = [];
  #isAvailable = true;
  /** When this period began. */
  #since = 0;
  #othersUntil = Number.NEGATIVE_INFINITY;
  #settlesAt = Number.NEGATIVE_INFINITY;

  constructor(options: FloodLimiterOptions) {
    this.#options = options;
    this.#strikes = new Uint8Array(options.groups);
    this.#counted = new Uint32Array(options.groups);
    // A thread that died may have left a filter.
    options.limit([]);
  }

  /** Whether a client is limited. Then count packets and call `review`. */
  get isLimiting(): boolean {
    return this.#limited.length > 0;
  }

  /** Counts a packet of this group that passed. */
  count(group: number): void {
    this.#counted[group] = (this.#counted[group] ?? 0) + 1;
  }

  /** Notes that clients of several groups are active. */
  noteOthers(now: number): void {
    this.#othersUntil = now + PERIOD;
  }

  /** Notes that a client had a large part of a batch while the buffer was filling up. @param client where its socket address begins */
  strike(now: number, group: number, octets: Uint8Array, client: number): void {
    this.review(now);
    if (now > this.#othersUntil || now < this.#settlesAt || !this.#isAvailable) return;
    const strikes = (this.#strikes[group] ?? 0) + 1;
    this.#strikes[group] = strikes;
    if (strikes >= MAX_STRIKES) this.#limit(now, group, octets, client);
  }

  /** Releases clients that have stopped flooding. Call it now and then while a client is limited. */
  review(now: number): void {
    const elapsed = now - this.#since;
    if (elapsed < PERIOD) return;
    if (!this.isLimiting) {
      this.#beginPeriod(now);
      return;
    }
    const computeRate = ({ group, share }: Limited) =>
      (((this.#counted[group] ?? 0) * share) / elapsed) * 1000;
    const left = this.#limited.filter((client) => computeRate(client) >= FLOOD_RATE);
    const isChanged = left.length < this.#limited.length;
    this.#limited = left;
    this.#beginPeriod(now);
    if (isChanged) this.#options.limit(left);
  }

  /** Releases all clients. */
  end(): void {
    if (this.isLimiting) this.#options.limit([]);
    this.#limited = [];
  }

  #beginPeriod(now: number): void {
    this.#since = now;
    this.#strikes.fill(0);
    this.#counted.fill(0);
  }

  #limit(now: number, group: number, octets: Uint8Array, client: number): void {
    const address = addressOctets(octets, client).slice();
    const known = this.#limited.find((limited) => Buffer.compare(limited.address, address) === 0);
    if (known?.share === MAX_SHARE) return;
    const share = known === undefined ? FIRST_SHARE : known.share * FURTHER;
    if (known !== undefined) known.share = share;
    else if (this.#limited.length < MAX_LIMITED_CLIENTS) this.#limited.push({ address, share, group });
    else return;
    // Packets that passed at the former share say little about the rate.
    this.#beginPeriod(now);
    this.#settlesAt = now + SETTLING;
    this.#isAvailable = this.#options.limit(this.#limited);
    if (this.#isAvailable) this.#options.onLimited(octets, client, share);
    else this.#limited = [];
  }
}
