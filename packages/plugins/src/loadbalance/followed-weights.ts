/**
 * The weights of a file that may change.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { WeightsFile } from './options.ts';
import { Weights } from './weights.ts';

/** CoreDNS's reason for a file that cannot be opened. */
export const OPEN_FAULT = 'weight file open error';

export interface FollowedWeightsDependencies {
  readonly clock: Clock;
  readonly log: Log;
}

export class FollowedWeights {
  readonly #file: WeightsFile;
  readonly #clock: Clock;
  readonly #log: Log;
  #weights = Weights.NONE;
  /** As read last; undefined: never. */
  #text: string | undefined;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(file: WeightsFile, { clock, log }: FollowedWeightsDependencies) {
    this.#file = file;
    this.#clock = clock;
    this.#log = log;
  }

  get weights(): Weights {
    return this.#weights;
  }

  /** Reads the file, whose faults were reported when the Corefile was read. */
  start(): void {
    try {
      this.#take(readFileSync(this.#file.path, 'utf8'));
    } catch {
      // It is tried again.
    }
    this.#lookAgain();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #lookAgain(): void {
    const { reload } = this.#file;
    if (reload === 0 || this.#isStopped) return;
    this.#timer = this.#clock.after(reload, () => void this.#look().finally(() => this.#lookAgain()));
  }

  async #look(): Promise<void> {
    let text: string;
    try {
      text = await readFile(this.#file.path, 'utf8');
    } catch {
      this.#log.error(`plugin/loadbalance: ${OPEN_FAULT}`);
      return;
    }
    try {
      this.#take(text);
    } catch (error) {
      this.#log.error(`plugin/loadbalance: ${describeError(error)}`);
    }
  }

  /** @throws WeightsError, once for each content */
  #take(text: string): void {
    if (this.#isStopped || text === this.#text) return;
    this.#text = text;
    this.#weights = Weights.parse(text, this.#file.path);
    this.#log.info(`plugin/loadbalance: Successfully reloaded weight file ${this.#file.path}`);
  }
}
