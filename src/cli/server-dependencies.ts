/**
 * The dependencies of servers in this process, taken from the process and the package.
 */
import { homedir } from 'node:os';
import { systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { ServerDependencies } from '../server/server.ts';
import { releaseProgramPages } from '../socket/program-pages.ts';
import { endUnusedReader, startReader } from './first-reader.ts';
import { packageFolder } from './package-folder.ts';
import { releaseAfterStart } from './release-after-start.ts';
import { VERSION } from './version.ts';

export function serverDependencies(log: Log): Omit<ServerDependencies, 'plugins'> {
  return {
    environment: process.env,
    home: homedir(),
    exampleFolder: packageFolder('examples/cluster'),
    startReader,
    afterStart: leaveStart,
    // Built into the same folder as this code.
    queryLogEntry: new URL('./query-log.js', import.meta.url),
    version: VERSION,
    clock: systemClock,
    log,
  };
}

/** Releases memory that only the start needed. */
function leaveStart(): void {
  void endUnusedReader();
  releaseAfterStart(releaseProgramPages);
}
