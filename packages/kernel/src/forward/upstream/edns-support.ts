/**
 * Whether to query a server with EDNS. Some servers do not support it, drop such queries, or are behind a device that does.
 *
 * One name proves little: a packet may be lost, and an attacker who guesses an id may send a FORMERR. So after a name that was answered
 * without EDNS and not with it, EDNS is omitted for a minute, and only from questions that do not need it. After several names it is
 * omitted from all, for longer, yet only for some minutes, since servers are replaced. An answer to a query with EDNS ends both, whether
 * or not it has OPT.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '../../base/clock.ts';

const MIN_NAMES = 3;
const MILLISECONDS_AFTER_ONE = 60_000;
const MILLISECONDS_AFTER_SEVERAL = 10 * 60_000;
/** Milliseconds for which such an answer proves that silence has another reason, such as lost packets. */
const MILLISECONDS_PROVEN = 60_000;

export class EdnsSupport {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #names = new Set<NameKey>();
  #withoutUntil = Number.NEGATIVE_INFINITY;
  #hasAnswered = false;
  #provenUntil = Number.NEGATIVE_INFINITY;
  #end: Timer | undefined;

  /** @param onChange called when `isUsed` has changed */
  constructor(clock: Clock, onChange: () => void = () => {}) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  get isUsed(): boolean {
    return this.#clock.monotonic() >= this.#withoutUntil;
  }

  /** The same for questions with DO, whose answers are not whole without EDNS. */
  get isUsedForDnssec(): boolean {
    return this.#names.size < MIN_NAMES || this.isUsed;
  }

  /** Whether the server is known to answer queries with EDNS. */
  get isProven(): boolean {
    // Read the clock here rather than for each reply.
    const now = this.#clock.monotonic();
    if (this.#hasAnswered) this.#provenUntil = now + MILLISECONDS_PROVEN;
    this.#hasAnswered = false;
    return now < this.#provenUntil;
  }

  /** The server has answered a query with EDNS. */
  noteAnswered(): void {
    this.#hasAnswered = true;
    if (this.#names.size > 0) this.#useAgain();
  }

  #useAgain(): void {
    this.#names.clear();
    if (this.isUsed) return;
    this.#withoutUntil = Number.NEGATIVE_INFINITY;
    this.stop();
    this.#onChange();
  }

  /** A name was answered without EDNS, after queries with it were refused or got no reply. */
  noteFallback(name: NameKey): void {
    if (this.isProven) return;
    if (this.#names.size < MIN_NAMES) this.#names.add(name);
    const isSure = this.#names.size >= MIN_NAMES;
    const milliseconds = isSure ? MILLISECONDS_AFTER_SEVERAL : MILLISECONDS_AFTER_ONE;
    this.#withoutUntil = this.#clock.monotonic() + milliseconds;
    this.stop();
    this.#end = this.#clock.after(milliseconds, this.#onChange);
    this.#onChange();
  }

  /** Reports no further changes. */
  stop(): void {
    this.#end?.cancel();
    this.#end = undefined;
  }
}
