/**
 * Looks up names with the C library, as programs in a pod do.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';

const run = promisify(execFile);
const SOURCE = fileURLToPath(new URL('c-library.c', import.meta.url));
/** What kubelet writes into the resolv.conf of a pod in the namespace `default`. */
const POD = {
  LOCALDOMAIN: 'default.svc.cluster.local svc.cluster.local cluster.local',
  RES_OPTIONS: 'ndots:5 timeout:5 attempts:2',
};

/**
 * Builds the client, which needs gcc.
 *
 * @returns looks a name up: the name of the server at an address, and then the addresses of the name
 */
export async function buildClient(): Promise<
  (server: DnsServer, serverAddress: string, name: string) => Promise<readonly string[]>
> {
  const folder = await makeTemporaryFolder();
  const program = join(folder.path, 'c-library');
  await run('gcc', ['-Wall', '-Wextra', '-Werror', '-o', program, SOURCE, '-lresolv']);
  return async ({ address, port }, serverAddress, name) => {
    const { stdout } = await run(program, [address, String(port), serverAddress, name], { env: POD });
    return stdout.trim().split('\n');
  };
}
