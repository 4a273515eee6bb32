/**
 * The environment of scenarios under load: the API server double, and the clients' load.
 */
import { bundleBurstLoad } from '../support/bundle-thread.ts';
import { bundleDouble } from '../support/double-process.ts';

export interface LoadedCluster {
  /** For `DoubleProcess`. */
  readonly double: URL;
  /** For `BurstLoad`. */
  readonly load: URL;
}

/** For `beforeAll`. */
export async function bundleLoadedCluster(): Promise<LoadedCluster> {
  return { double: await bundleDouble(), load: await bundleBurstLoad() };
}
