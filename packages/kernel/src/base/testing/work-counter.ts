/**
 * Measures the work of code as a count that is equal on every machine: how often V8 enters its functions and blocks, as
 * counted for coverage. Work inside built-in functions is not counted.
 */
import { type Profiler, Session } from 'node:inspector';

export class WorkCounter {
  readonly #session = new Session();
  readonly #folder: string;

  /** @param folder counts only files of our packages in this folder */
  constructor(folder = '/packages/') {
    this.#folder = folder;
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** The number of blocks that `run` entered. */
  count(run: () => void): number {
    this.take();
    run();
    return this.take();
  }

  stop(): void {
    this.#post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }

  /** How often blocks were entered since the last call. */
  take(): number {
    let blocks = 0;
    for (const { count } of this.#ranges()) blocks += count;
    return blocks;
  }

  /** The blocks that were entered since the last call: the file, and where each begins and ends. */
  takeBlocks(): ReadonlySet<string> {
    const blocks = new Set<string>();
    for (const { file, count, startOffset, endOffset } of this.#ranges())
      if (count > 0) blocks.add(`${file} ${startOffset} ${endOffset}`);
    return blocks;
  }

  *#ranges(): Generator<Profiler.CoverageRange & { readonly file: string }> {
    // The type that the protocol documents for this method.
    const { result } = this.#post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType;
    for (const { url, functions } of result) {
      if (!url.includes(this.#folder)) continue;
      for (const { ranges } of functions) for (const range of ranges) yield { ...range, file: url };
    }
  }

  /** A session of the same thread answers synchronously. */
  #post(method: string, parameters: object = {}): unknown {
    let answer: unknown;
    this.#session.post(method, parameters, (error, result) => {
      if (error !== null) throw new Error(`${method}: ${error.message}`);
      answer = result;
    });
    return answer;
  }
}
