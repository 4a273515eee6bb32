/**
 * The program serving a test cluster, after all objects are listed.
 */
import { afterFile } from '../support/after-file.ts';
import { endAllPrograms, type Serving, servePortolan } from '../support/portolan.ts';

/** For `beforeAll`; ends after the tests of the file. */
export async function serveCluster(kubeconfig: string, ...flags: readonly string[]): Promise<Serving> {
  afterFile(endAllPrograms);
  const serving = await servePortolan(['--kubecfg-file', kubeconfig, '--lameduck', '0s', ...flags]);
  await serving.program.heard('cluster listed', 30_000);
  return serving;
}
