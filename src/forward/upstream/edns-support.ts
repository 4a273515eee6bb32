/**
 * Whether to query a server with EDNS. Some servers do not support it, drop such queries, or are behind a device that does.
 *
 * One name proves little: a packet may be lost, and an attacker who guesses an id may send a FORMERR. EDNS is omitted
 * only after several names were answered without it and not with it, and only for some minutes, since servers are
 * replaced.
 */
import type { Clock } from '../../base/clock.ts';
import type { NameKey } from '../../wire/types.ts';

const MIN_NAMES = 3;
const MILLISECONDS_WITHOUT = 10 * 60_000;
/** Milliseconds for which an OPT record proves that silence has another reason, such as lost packets. */
const MILLISECONDS_PROVEN = 60_000;

export class EdnsSupport {
  readonly #clock: Clock;
  readonly #names = new Set<NameKey>();
  #withoutUntil = Number.NEGATIVE_INFINITY;
  #hasSentOpt = false;
  #provenUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isUsed(): boolean {
    return this.#clock.monotonic() >= this.#withoutUntil;
  }

  /** Whether the server is known to answer queries with EDNS. */
  get isProven(): boolean {
    // Read the clock here rather than for each reply.
    const now = this.#clock.monotonic();
    if (this.#hasSentOpt) this.#provenUntil = now + MILLISECONDS_PROVEN;
    this.#hasSentOpt = false;
    return now < this.#provenUntil;
  }

  /** The server has sent an OPT record. */
  noteOpt(): void {
    this.#hasSentOpt = true;
    if (this.#names.size > 0) this.#names.clear();
  }

  /** A name was answered without EDNS, after queries with it were refused or got no reply. */
  noteFallback(name: NameKey): void {
    if (this.isProven) return;
    this.#names.add(name);
    if (this.#names.size < MIN_NAMES) return;
    this.#names.clear();
    this.#withoutUntil = this.#clock.monotonic() + MILLISECONDS_WITHOUT;
  }
}
