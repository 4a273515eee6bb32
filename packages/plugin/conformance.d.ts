import type { PluginDefinition } from './index.js';

export interface ConformanceOptions {
  /** Questions for each example. Default: 2000. */
  readonly questions?: number;
  /** Seed of the questions. Default: 1. */
  readonly seed?: number;
}

/**
 * Runs each example of a definition: its plugin must start and stop, leave nothing running, neither throw nor block, pass on each question
 * that it does not state, and give one answer to a question that readers may repeat.
 *
 * @returns faults, as whole sentences; empty: it conforms
 */
export declare function testPlugin<Options>(
  definition: PluginDefinition<string, Options>,
  options?: ConformanceOptions,
): Promise<readonly string[]>;
