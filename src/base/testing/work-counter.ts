/**
 * How much work code does, as a count that is the same on every machine: how often its functions and blocks are entered, as V8 counts
 * them for coverage. What built-in functions do inside is not counted.
 */
import { type Profiler, Session } from 'node:inspector';

export class WorkCounter {
  readonly #session = new Session();
  readonly #folder: string;

  /** @param folder counts files of `src/` in this folder alone */
  constructor(folder = '/src/') {
    this.#folder = folder;
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** The blocks that `run` entered. */
  count(run: () => void): number {
    this.take();
    run();
    return this.take();
  }

  stop(): void {
    this.#post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }

  /** Blocks entered since the last call. */
  take(): number {
    // What the protocol says of this method.
    const { result } = this.#post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType;
    let blocks = 0;
    for (const { url, functions } of result) {
      if (!url.includes(this.#folder)) continue;
      for (const { ranges } of functions) for (const { count } of ranges) blocks += count;
    }
    return blocks;
  }

  /** A session of the same thread answers before it returns. */
  #post(method: string, parameters: object = {}): unknown {
    let answer: unknown;
    this.#session.post(method, parameters, (error, result) => {
      if (error !== null) throw new Error(`${method}: ${error.message}`);
      answer = result;
    });
    return answer;
  }
}
