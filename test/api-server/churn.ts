/**
 * A steady stream of changes at a given rate: each gives one slice of a generated cluster another address.
 */
import type { ApiServerDouble } from './api-server.ts';
import { makeSlice, podAddress } from './generate.ts';

export interface ChurnOptions {
  readonly perSecond: number;
  readonly seconds: number;
  /** Services of the generated cluster that are changed in turn. */
  readonly services: number;
  readonly namespaces?: number;
}

/** How often the stream catches up with the time, in milliseconds. */
const TICK = 10;

export class Churn {
  readonly #double: ApiServerDouble;
  readonly #options: ChurnOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #begun = performance.now();
  #sent = 0;
  #finish = () => {};
  /** Kept when the last change is sent, or the stream was stopped. */
  readonly done = new Promise<void>((resolve) => {
    this.#finish = resolve;
  });

  constructor(double: ApiServerDouble, options: ChurnOptions) {
    this.#double = double;
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), TICK);
  }

  get sent(): number {
    return this.#sent;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#finish();
  }

  #tick(): void {
    const { perSecond, seconds, services } = this.#options;
    const elapsed = Math.min(seconds, (performance.now() - this.#begun) / 1000);
    for (const due = Math.floor(elapsed * perSecond); this.#sent < due; this.#sent += 1) {
      this.#change(this.#sent % services, Math.floor(this.#sent / services));
    }
    if (elapsed >= seconds) this.stop();
  }

  #change(index: number, round: number): void {
    const namespace = `ns-${index % (this.#options.namespaces ?? 10)}`;
    const addresses = [podAddress(index, 500 + (round % 400)), podAddress(index, 1)];
    this.#double.put(makeSlice(index, namespace, 0, addresses));
  }
}
