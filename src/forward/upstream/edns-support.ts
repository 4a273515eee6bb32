/**
 * Whether a server is asked with EDNS. Some do not know it, drop queries that have it, or stand behind something that does.
 *
 * One name proves nothing: a packet may be lost, and an attacker who guesses an id may send a FORMERR. Only when several names were
 * answered without EDNS, and not with it, is it left out; and only for some minutes, since servers are replaced.
 */
import type { Clock } from '../../base/clock.ts';
import type { NameKey } from '../../wire/types.ts';

const MIN_NAMES = 3;
const MILLISECONDS_WITHOUT = 10 * 60_000;

export class EdnsSupport {
  readonly #clock: Clock;
  readonly #names = new Set<NameKey>();
  #withoutUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isUsed(): boolean {
    return this.#clock.monotonic() >= this.#withoutUntil;
  }

  /** The server has sent an OPT record. */
  noteOpt(): void {
    if (this.#names.size > 0) this.#names.clear();
  }

  /** A name was answered without EDNS, after queries with it were refused or had no reply. */
  noteFallback(name: NameKey): void {
    this.#names.add(name);
    if (this.#names.size < MIN_NAMES) return;
    this.#names.clear();
    this.#withoutUntil = this.#clock.monotonic() + MILLISECONDS_WITHOUT;
  }
}
