/**
 * How a server with a Corefile behaves as a process: CoreDNS's words, banner, pid file, signals and exit codes.
 */

import { COREDNS_VERSION } from '@portolan/corefile/coredns-version.ts';
import type { ServerBlock } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { startLines } from '@portolan/frontends/coredns/settings/start-lines.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { formatSocketAddress } from '@portolan/kernel/base/socket-address.ts';
import { describeSystemError } from '@portolan/kernel/base/system-errors.ts';
import { PortInUseError, SocketError } from '@portolan/kernel/socket/socket-error.ts';
import { placeOfServer } from '@portolan/server/observe/control/control-place.ts';
import type { AdjustableLog } from '@portolan/server/observe/log.ts';
import { PidFile } from '@portolan/server/pid-file.ts';
import type { Manner } from '../process/manner.ts';
import { onEnd, type StopSignal } from '../process/signals.ts';
import { VERSION } from '../process/version.ts';

/** CoreDNS's exit code after a second SIGINT. */
const FORCED = 2;

export interface CoreDnsMannerOptions {
  /** The command. */
  readonly role: string;
  readonly log: AdjustableLog;
  /** Writes to standard output. */
  readonly write: (text: string) => void;
  readonly pidFile: string | undefined;
  /** Whether to omit the banner. */
  readonly isQuiet: boolean;
  /** The blocks of the Corefile, once it is read. */
  readonly blocks: () => readonly ServerBlock[];
}

export function createCoreDnsManner(options: CoreDnsMannerOptions): Manner {
  const { role, log, write, pidFile, isQuiet, blocks } = options;
  return {
    role,
    log,
    format: 'text',
    controlPlace: placeOfServer(undefined, role),
    reloadSignal: 'SIGUSR1',
    quit: () => {
      log.info('SIGQUIT: Quitting process immediately');
      process.exit(0);
    },
    noteStop: (signal) => log.info(STOP_WORDS[signal]),
    stopAgain: (signal) => {
      if (signal !== 'SIGINT') return;
      log.info('SIGINT: Force quit');
      process.exit(FORCED);
    },
    settle: () => {
      if (pidFile !== undefined) keepPidFile(pidFile, log);
      if (!isQuiet) write([...startLines(blocks()), corednsBanner()].join('\n'));
    },
    fail: (error) => {
      process.stderr.write(`${describeFailure(error)}\n`);
      return 1;
    },
  };
}

const STOP_WORDS: Readonly<Record<StopSignal, string>> = {
  SIGTERM: 'SIGTERM: Shutting down servers then terminating',
  SIGINT: 'SIGINT: Shutting down',
};

/** Called once the server answers queries, because others wait for the file. As in CoreDNS, a failure does not stop the server. */
function keepPidFile(path: string, log: Log): void {
  try {
    const file = PidFile.write(path, 'any');
    onEnd(() => file.remove());
  } catch (error) {
    log.error(`Could not write pidfile: open ${path}: ${describeSystemError(error)}`);
  }
}

/** Uses CoreDNS's message where it has one. */
function describeFailure(error: unknown): string {
  if (error instanceof PortInUseError) {
    const { endpoint, transport } = error;
    return `Listen: listen ${transport} ${formatSocketAddress(endpoint)}: bind: address already in use\n  ${error.message}`;
  }
  if (error instanceof SocketError && error.code === 'EADDRNOTAVAIL') {
    const address = formatSocketAddress(error.endpoint);
    return `Listen: listen tcp ${address}: bind: cannot assign requested address\n  ${error.message}`;
  }
  return describeError(error);
}

/** The CoreDNS version that Portolan implements, and Portolan's own version. */
export function corednsBanner(): string {
  const { platform, arch, version } = process;
  const machine = arch === 'x64' ? 'amd64' : arch;
  return `CoreDNS-${COREDNS_VERSION}\n${platform}/${machine}, portolan-${VERSION}, node ${version}\n`;
}
