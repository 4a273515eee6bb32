/**
 * Has the kernel drop most packets of clients that flood a socket, for as long as they do.
 *
 * A reader that drops packets itself must receive them first, and beside other work it does not always come to that in time:
 * then the receive buffer is full, and the kernel drops packets of all clients. A client whose packets keep filling the buffer although
 * the reader sheds them is let through in part only. No client is limited while no other asks: no other would gain.
 */
import { addressOctets } from '../socket/addresses.ts';
import { type LimitedClient, MAX_LIMITED_CLIENTS } from '../socket/client-filter.ts';

/** Batches beside a buffer that is filling up which a client has had a large part of, in one period, before it is limited. */
const MAX_STRIKES = 8;
/** Milliseconds from one look at the limited clients to the next. */
const PERIOD = 1000;
/** Milliseconds until a limit shows: what is in the buffer by then came before it. */
const SETTLING = 100;
/** Packets a second from which on a limited client still floods. */
const FLOOD_RATE = 10_000;
/** One packet in so many is let through: at first, and when that is not enough. */
const FIRST_SHARE = 16;
const FURTHER = 4;
const MAX_SHARE = 256;

interface Limited extends LimitedClient {
  share: number;
  readonly group: number;
}

export interface FloodLimiterOptions {
  /** Groups of clients, by which packets are counted. */
  readonly groups: number;
  /** Limits these clients and no others. @returns false where the kernel has no such filter */
  readonly limit: (clients: readonly LimitedClient[]) => boolean;
  /** A client is limited now, or more than before. `client`: where its socket address begins. */
  readonly onLimited: (octets: Uint8Array, client: number, share: number) => void;
}

export class FloodLimiter {
  readonly #options: FloodLimiterOptions;
  readonly #strikes: Uint8Array;
  /** Packets that came through in this period, by group. */
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
    // A thread that died may have left one.
    options.limit([]);
  }

  /** Whether a client is limited, so that packets are to be counted and time is to be told. */
  get isLimiting(): boolean {
    return this.#limited.length > 0;
  }

  /** A packet of this group came through. */
  count(group: number): void {
    this.#counted[group] = (this.#counted[group] ?? 0) + 1;
  }

  /** Clients of several groups ask at once. */
  noteOthers(now: number): void {
    this.#othersUntil = now + PERIOD;
  }

  /** A client has had a large part of a batch beside a buffer that is filling up. @param client where its socket address begins */
  strike(now: number, group: number, octets: Uint8Array, client: number): void {
    this.review(now);
    if (now > this.#othersUntil || now < this.#settlesAt || !this.#isAvailable) return;
    const strikes = (this.#strikes[group] ?? 0) + 1;
    this.#strikes[group] = strikes;
    if (strikes >= MAX_STRIKES) this.#limit(now, group, octets, client);
  }

  /** Lets go of clients that flood no more. To be called now and then while a client is limited. */
  review(now: number): void {
    const elapsed = now - this.#since;
    if (elapsed < PERIOD) return;
    if (!this.isLimiting) {
      this.#beginPeriod(now);
      return;
    }
    const rateOf = ({ group, share }: Limited) => (((this.#counted[group] ?? 0) * share) / elapsed) * 1000;
    const left = this.#limited.filter((client) => rateOf(client) >= FLOOD_RATE);
    const isChanged = left.length < this.#limited.length;
    this.#limited = left;
    this.#beginPeriod(now);
    if (isChanged) this.#options.limit(left);
  }

  /** Lets go of all. */
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
    // What came through by the share before says nothing of the rate.
    this.#beginPeriod(now);
    this.#settlesAt = now + SETTLING;
    this.#isAvailable = this.#options.limit(this.#limited);
    if (this.#isAvailable) this.#options.onLimited(octets, client, share);
    else this.#limited = [];
  }
}
