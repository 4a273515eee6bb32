/**
 * Loads the parts for version 2 of etcd's API only where a flag selects it: servers with version 3 do not hold them in memory.
 */
import type { Log } from '@portolan/kernel/base/log.ts';

/**
 * @deprecated Use version 3 of the API. Logs that once: call it at the start.
 * @returns the modules of version 2
 */
export async function loadV2(log: Log) {
  log.warn('version 2 of the API of etcd is deprecated: use -etcd3');
  const [{ EtcdV2Client }, { V2Reader }, { UnlistedNames }] = await Promise.all([
    import('./client.ts'),
    import('./reader.ts'),
    import('./unlisted-names.ts'),
  ]);
  return { EtcdV2Client, V2Reader, UnlistedNames };
}
