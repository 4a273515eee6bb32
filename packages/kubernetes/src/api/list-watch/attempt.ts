/**
 * One attempt at the API server: a deadline, silence, the caller, or the stop of the whole watch ends it.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { ProtobufError } from '@portolan/kernel/base/protobuf-message.ts';
import { FrameTooLongError } from '../../protobuf/frame-splitter.ts';
import { RequestError } from '../connection/errors.ts';
import { type Failure, ListWatchError } from './failure.ts';
import { LineTooLongError } from './line-splitter.ts';
import { MalformedListError } from './list-reader.ts';

export class ConnectionAttempt {
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal;
  readonly #timers = new Map<'deadline' | 'silence', Timer>();
  #lastHeard: number;

  constructor(parent: AbortSignal, clock: Clock) {
    this.#clock = clock;
    this.#parent = parent;
    this.#lastHeard = clock.monotonic();
    if (parent.aborted) this.#stop();
    else parent.addEventListener('abort', this.#stop, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Ends the attempt with `failure` as its reason. */
  fail(failure: Failure): void {
    this.#controller.abort(new ListWatchError(failure));
  }

  /** Fails unless closed within `milliseconds` from now. */
  expectEnd(milliseconds: number, failure: Failure): void {
    this.#timers.get('deadline')?.cancel();
    this.#timers.set(
      'deadline',
      this.#clock.after(milliseconds, () => this.fail(failure)),
    );
  }

  /** Fails if `heard` is not called for `milliseconds`. A second call sets a new limit. */
  expectTraffic(milliseconds: number, failure: Failure): void {
    this.heard();
    this.#watchSilence(milliseconds, milliseconds, failure);
  }

  /** Ends `expectTraffic`. */
  allowSilence(): void {
    this.#timers.get('silence')?.cancel();
    this.#timers.delete('silence');
  }

  heard(): void {
    this.#lastHeard = this.#clock.monotonic();
  }

  close(): void {
    this.#parent.removeEventListener('abort', this.#stop);
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  /** The failure that an error thrown during the attempt means. */
  explain(error: unknown): Failure {
    const reason: unknown = this.signal.aborted ? this.signal.reason : error;
    if (reason instanceof ListWatchError) return reason.failure;
    if (reason instanceof RequestError) {
      return {
        kind: reason.reason === 'credentials' ? 'authentication' : reason.reason,
        words: reason.message,
      };
    }
    if (reason instanceof MalformedListError || reason instanceof ProtobufError)
      return { kind: 'server', words: reason.message };
    if (reason instanceof LineTooLongError || reason instanceof FrameTooLongError)
      return { kind: 'expired', why: 'doubtful', words: reason.message };
    // A socket error in the middle of a body has a system code, such as ECONNRESET.
    const words = describeError(reason);
    const fromSystem = reason instanceof Error && 'code' in reason;
    return fromSystem ? { kind: 'network', words } : { kind: 'unexpected', words, error: reason };
  }

  // One timer that checks again when it fires, instead of one per event: a busy watch costs no timers.
  #watchSilence(delay: number, limit: number, failure: Failure): void {
    this.#timers.get('silence')?.cancel();
    const timer = this.#clock.after(delay, () => {
      const left = this.#lastHeard + limit - this.#clock.monotonic();
      if (left <= 0) this.fail(failure);
      else this.#watchSilence(left, limit, failure);
    });
    this.#timers.set('silence', timer);
  }

  readonly #stop = (): void => this.fail({ kind: 'stopped', words: 'the watch was stopped' });
}
