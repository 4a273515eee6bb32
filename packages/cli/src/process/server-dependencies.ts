/**
 * The dependencies of servers in this process, taken from the process and the package.
 */
import { homedir } from 'node:os';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { confine } from '@portolan/kernel/socket/confinement.ts';
import { releasePages } from '@portolan/kernel/socket/program-pages.ts';
import type { ServerDependencies } from '@portolan/server/server.ts';
import { type CodeCacheState, codeCacheStates } from './cached-bundle.ts';
import { dropPrivileges } from './drop-privileges.ts';
import { closeEarlyPorts } from './early-ports.ts';
import { endUnusedReader, startReader } from './first-reader.ts';
import { packageFolder } from './package-folder.ts';
import { releaseAfterStart } from './release-after-start.ts';
import { VERSION } from './version.ts';

export function serverDependencies(log: Log): Omit<ServerDependencies, 'http'> {
  return {
    environment: process.env,
    home: homedir(),
    exampleFolder: packageFolder('examples/cluster'),
    startReader,
    afterStart: () => leaveStart(log),
    // Built into the same folder as this code.
    queryLogEntry: new URL('./query-log.js', import.meta.url),
    version: VERSION,
    codeCaches: countCodeCaches(log),
    clock: systemClock,
    log,
  };
}

/** Counts the bundles of this thread by the state of their code caches. Readers have the same version and flags of V8. */
function countCodeCaches(log: Log): Readonly<Record<CodeCacheState, number>> {
  const counts = { used: 0, rejected: 0, absent: 0 };
  for (const [bundle, state] of codeCacheStates()) {
    counts[state] += 1;
    if (state !== 'rejected') continue;
    const reason = 'made with another version or other flags of Node.js';
    log.info('code cache not used: the start takes longer', { bundle, reason, node: process.version });
  }
  return counts;
}

/** Releases memory and rights that only the start needed. */
function leaveStart(log: Log): void {
  void endUnusedReader();
  void closeEarlyPorts();
  releaseAfterStart(releasePages);
  dropPrivileges({ environment: process.env, log, confine });
}
