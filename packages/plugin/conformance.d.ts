import type { PluginModule } from './index.js';

export interface ConformanceOptions {
  /** Questions for each example. Default: 2000. */
  readonly questions?: number;
  /** Seed of the questions. Default: 1. */
  readonly seed?: number;
}

/**
 * Runs each example of a module: it must start and stop, leave nothing running, neither throw nor block, and pass on each question that
 * it does not state.
 *
 * @returns faults, as whole sentences; empty: it conforms
 */
export declare function testPlugin(
  module: PluginModule,
  options?: ConformanceOptions,
): Promise<readonly string[]>;
