/**
 * What is known of how a server does: its state, its round trip, what it loses, and since when the network refuses it.
 */
import { LossRate } from './loss-rate.ts';
import { isRefusal, Refusals } from './refusals.ts';
import type { RoundTrip } from './round-trip.ts';
import { nextState, UNTRIED, type UpstreamEvent, type UpstreamState } from './upstream-state.ts';

/** Milliseconds that nothing is heard of a server before it is silent, however many queries fail: it may have stalled. */
const MIN_SILENCE = 400;

export class UpstreamHealth {
  readonly losses = new LossRate();
  readonly #roundTrip: RoundTrip;
  readonly #refusals = new Refusals();
  /** Called after each change of the state. */
  readonly #onChange: (from: UpstreamState) => void;
  #state: UpstreamState = UNTRIED;
  #heardAt = Number.NEGATIVE_INFINITY;
  /** When the first of the queries was sent that have failed since it was heard. */
  #failingSince = 0;

  constructor(roundTrip: RoundTrip, onChange: (from: UpstreamState) => void) {
    this.#roundTrip = roundTrip;
    this.#onChange = onChange;
  }

  get state(): UpstreamState {
    return this.#state;
  }

  /** Takes note of a change; the states say what it means. */
  note(event: UpstreamEvent): void {
    const from = this.#state;
    this.#state = nextState(from, event);
    if (this.#state !== from) this.#onChange(from);
  }

  /** A reply came, so many milliseconds after its query. @param now of the clock's monotonic time, like its neighbours */
  heard(milliseconds: number, now: number): void {
    this.#heardAt = now;
    this.#refusals.noteHeard();
    this.#roundTrip.measure(milliseconds);
    this.note('replied');
  }

  /** A query that was sent at `askedAt` is overdue. */
  overdue(askedAt: number, now: number): void {
    // What is heard meanwhile shows that packets are lost, rather than that the server is slow.
    if (now - this.#heardAt >= this.#roundTrip.timeout()) this.#roundTrip.timedOut(now);
    this.#noteFailure(askedAt, now);
  }

  /** A query will not be answered, by what the network says. */
  failed(code: string, askedAt: number, now: number): void {
    this.#noteFailure(askedAt, now);
    if (!isRefusal(code)) return;
    this.#refusals.noteRefused(now);
    if (this.#refusals.patience(now) === 0) this.note('gone');
  }

  /** Milliseconds for which it is still asked although the network refuses it; 0: it has been refusing for too long. */
  refusalPatience(now: number): number {
    return this.#refusals.patience(now);
  }

  #noteFailure(askedAt: number, now: number): void {
    if (this.#state.kind !== 'failing') this.#failingSince = Math.max(askedAt, this.#heardAt);
    this.note('failed');
    if (this.#state.kind !== 'failing' || now - this.#failingSince < MIN_SILENCE) return;
    if (this.#state.failures >= this.losses.improbableRow) this.note('fell-silent');
  }
}
