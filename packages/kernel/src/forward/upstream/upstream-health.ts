/**
 * The health of a server: its state, its round trip, its losses, and since when the network refuses it.
 */
import type { HealthChecks } from './health-checks.ts';
import { LossRate } from './loss-rate.ts';
import { isRefusal, Refusals } from './refusals.ts';
import type { RoundTrip } from './round-trip.ts';
import { nextState, UNTRIED, type UpstreamEvent, type UpstreamState } from './upstream-state.ts';

/** Milliseconds without any reply before a server is silent, however many queries fail: it may have stalled. */
const MIN_SILENCE = 400;

export class UpstreamHealth {
  readonly losses = new LossRate();
  readonly #roundTrip: RoundTrip;
  readonly #refusals = new Refusals();
  /** Called after each change of the state. */
  readonly #onChange: (from: UpstreamState) => void;
  #state: UpstreamState = UNTRIED;
  #heardAt = Number.NEGATIVE_INFINITY;
  /** When the first query was sent that failed since the last reply. */
  #failingSince = 0;
  /** Consecutive questions that another server answered after this one had exceeded its time. */
  #outruns = 0;

  /** Undefined: replies and failures of questions show the state. */
  readonly #checks: HealthChecks | undefined;

  constructor(roundTrip: RoundTrip, onChange: (from: UpstreamState) => void, checks?: HealthChecks) {
    this.#roundTrip = roundTrip;
    this.#onChange = onChange;
    this.#checks = checks;
  }

  get state(): UpstreamState {
    return this.#state;
  }

  /** Reports an event; `upstream-state.ts` defines the resulting state. */
  note(event: UpstreamEvent): void {
    const from = this.#state;
    this.#state = nextState(from, event);
    if (this.#state !== from) this.#onChange(from);
  }

  /** A reply came `milliseconds` after its query. @param now by the clock's monotonic time, also below */
  heard(milliseconds: number, now: number): void {
    this.#heardAt = now;
    this.#outruns = 0;
    this.#refusals.noteHeard();
    this.#roundTrip.measure(milliseconds);
    this.note('replied');
  }

  /** A query sent at `askedAt` is overdue. */
  overdue(askedAt: number, now: number): void {
    // Replies in the meantime show that packets are lost, rather than that the server is slow.
    if (now - this.#heardAt >= this.#roundTrip.timeout()) this.#roundTrip.timedOut(now);
    this.#noteFailure(askedAt, now);
  }

  /**
   * Another server answered a question that this one had not answered in its time. So the question is not to blame: after a few of them
   * no question waits for this server.
   */
  outrun(): void {
    if (this.#checks !== undefined) return;
    this.#outruns += 1;
    if (this.#outruns >= this.losses.improbableOutruns) this.note('fell-silent');
  }

  /** A query will not be answered, because of a network error. */
  failed(code: string, askedAt: number, now: number): void {
    this.#noteFailure(askedAt, now);
    if (!isRefusal(code) || this.#checks !== undefined) return;
    this.#refusals.noteRefused(now);
    if (this.#refusals.patience(now) === 0) this.note('gone');
  }

  /** Milliseconds for which it is still asked although the network refuses it; 0: it has been refusing for too long. */
  refusalPatience(now: number): number {
    return this.#refusals.patience(now);
  }

  /** Stops its checks. */
  stop(): void {
    this.#checks?.stop();
  }

  #noteFailure(askedAt: number, now: number): void {
    if (this.#state.kind !== 'failing') this.#failingSince = Math.max(askedAt, this.#heardAt);
    this.note('failed');
    if (this.#checks !== undefined) {
      this.#checks.start();
      return;
    }
    if (this.#state.kind !== 'failing' || now - this.#failingSince < MIN_SILENCE) return;
    if (this.#state.failures >= this.losses.improbableRow) this.note('fell-silent');
  }
}
