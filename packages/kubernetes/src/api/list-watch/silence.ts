/**
 * Notices that the API server has fallen silent about a kind: a dead network path or a frozen server closes no connection.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';

export class Silence {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #fell: () => void;
  readonly #ended: () => void;
  #heardAt: number;
  #isSilent = false;
  #timer: Timer | undefined;

  /**
   * @param limit in milliseconds
   * @param fell called when nothing was heard for `limit`
   * @param ended called when something is heard after that
   */
  constructor(clock: Clock, limit: number, fell: () => void, ended: () => void) {
    this.#clock = clock;
    this.#limit = limit;
    this.#fell = fell;
    this.#ended = ended;
    this.#heardAt = clock.monotonic();
  }

  /** Milliseconds since the server was heard, or since this began. */
  get lasts(): number {
    return this.#clock.monotonic() - this.#heardAt;
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** Starts to listen. */
  begin(): void {
    this.#heardAt = this.#clock.monotonic();
    this.#wait();
  }

  end(): void {
    this.#timer?.cancel();
  }

  heard(): void {
    this.#heardAt = this.#clock.monotonic();
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#wait();
    this.#ended();
  }

  /** One timer that checks again when it fires, instead of one for each event. */
  #wait(): void {
    this.#timer?.cancel();
    // Whole milliseconds: a timer cannot wait a fraction.
    this.#timer = this.#clock.after(Math.max(1, Math.ceil(this.#limit - this.lasts)), () => {
      if (this.lasts < this.#limit) this.#wait();
      else {
        this.#isSilent = true;
        this.#fell();
      }
    });
  }
}
