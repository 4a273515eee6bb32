/**
 * The request to stop that SIGTERM and SIGINT make, from the first moment of a start.
 */
import { onStopSignal, type StopSignal } from './signals.ts';

export class StopRequest {
  /** Resolves at the first stop signal. */
  readonly signal: Promise<StopSignal>;
  #isMade = false;

  /**
   * @param note called at the first signal
   * @param again called at the next one; default: it ends the process
   */
  constructor(
    note: (signal: StopSignal) => void,
    again?: (signal: StopSignal) => void,
    listen: typeof onStopSignal = onStopSignal,
  ) {
    this.signal = new Promise((resolve) => {
      listen((signal) => {
        this.#isMade = true;
        note(signal);
        resolve(signal);
      }, again);
    });
  }

  get isMade(): boolean {
    return this.#isMade;
  }

  /** @returns the result of the work, or undefined if the request comes first: the work then goes on unheeded */
  async race<Result>(work: Promise<Result>): Promise<Result | undefined> {
    return await Promise.race([work, this.signal.then(() => undefined)]);
  }
}
