import type { PluginDefinition } from './index.js';

export interface ConformanceOptions {
  /** Questions for each example. Default: 2000. */
  readonly questions?: number;
  /** Seed of the questions. Default: 1. */
  readonly seed?: number;
}

/**
 * Runs each example of a definition: its plugin must start and stop, leave nothing running, neither throw nor block, pass on each question
 * that it does not state, act on one that it states, and give one answer to a question that readers or a cache in front may repeat.
 *
 * It moves the `Date` of the process while it runs; runs take turns.
 *
 * @returns faults, as whole sentences; empty: it conforms
 */
export declare function testPlugin<Options>(
  definition: PluginDefinition<string, Options>,
  options?: ConformanceOptions,
): Promise<readonly string[]>;
