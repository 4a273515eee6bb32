/**
 * The program serving a test cluster, with everything listed.
 */

import { afterAll } from 'vitest';
import { endAllPrograms, type Serving, servePortolan } from '../support/portolan.ts';
import type { TestCluster } from './test-cluster.ts';

/** For `beforeAll`; ends after the tests of the file. */
export async function serveCluster(
  { kubeconfig }: TestCluster,
  ...flags: readonly string[]
): Promise<Serving> {
  afterAll(endAllPrograms);
  const serving = await servePortolan(['--kubecfg-file', kubeconfig, '--lameduck', '0s', ...flags]);
  await serving.program.heard('cluster listed', 30_000);
  return serving;
}
