/**
 * Runs the commands of auxiliary programs: flags, log, signals, exit code.
 */
import type { Log, LogLevel } from '@portolan/kernel/base/log.ts';
import type { HttpHost, HttpPort } from '@portolan/server/observe/http-host.ts';
import type { Problem } from '@portolan/server/settings/values/problem.ts';
import { dropPrivileges } from '../process/drop-privileges.ts';
import { closeEarlyPorts } from '../process/early-ports.ts';
import { createErrorLog } from '../process/error-log.ts';
import { printFailure, printProblems, printVersion } from '../process/print-problems.ts';
import { createHttpHost } from '../process/process-http.ts';
import { releaseAfterStart } from '../process/release-after-start.ts';
import { stopHint } from '../process/signals.ts';
import { StopRequest } from '../process/stop-request.ts';

export interface Role {
  /** Open before the start, which may wait for a cluster, and until all has stopped. */
  readonly httpPort: HttpPort;
  start(): void | Promise<void>;
  stop(): void | Promise<void>;
  /** Resolves if the role cannot continue; the program then exits with this error. */
  readonly failure?: Promise<Error>;
}

/** The result of reading the flags of a role. */
export type RoleReading<Good extends { readonly kind: 'good' }> =
  | { readonly kind: 'help' | 'version' }
  /** The exit code is 2 by default. */
  | { readonly kind: 'bad'; readonly problems: readonly Problem[]; readonly exitCode?: number }
  | Good;

export interface RoleCommand<Good> {
  readonly name: string;
  /** The program that it replaces, with its version. */
  readonly replacedProgram: string;
  readonly helpText: () => string;
  readonly logLevel: (reading: Good) => LogLevel;
  readonly create: (reading: Good, log: Log, http: HttpHost) => Role;
}

/** @returns the exit code when the program has stopped or failed to start */
export async function runRoleCommand<Good extends { readonly kind: 'good' }>(
  reading: RoleReading<Good>,
  { name, replacedProgram, helpText, logLevel, create }: RoleCommand<Good>,
): Promise<number> {
  switch (reading.kind) {
    case 'help':
      process.stdout.write(helpText());
      return 0;
    case 'version':
      printVersion(replacedProgram);
      return 0;
    case 'bad':
      printProblems(name, reading.problems);
      return reading.exitCode ?? 2;
    case 'good':
      return await runRole({
        command: name,
        logLevel: logLevel(reading),
        create: (log, http) => create(reading, log, http),
      });
  }
}

interface RoleRun {
  /** The command's name, for messages. */
  readonly command: string;
  readonly logLevel: LogLevel;
  readonly create: (log: Log, http: HttpHost) => Role;
}

/** @returns the exit code when the role has stopped or failed to start */
async function runRole({ command, logLevel, create }: RoleRun): Promise<number> {
  const log = createErrorLog(logLevel);
  const http = createHttpHost(log);
  const role = create(log, http);
  const stop = new StopRequest((signal) => log.info('stopping', { signal, hint: stopHint(signal) }));
  try {
    // The start may wait for an API server; a signal ends that wait.
    const isRunning = await stop.race(startRole(role, http, stop));
    if (isRunning === true) await leaveStart(command, http.findPort(role.httpPort.name), log);
    const failure = await (role.failure === undefined
      ? stop.signal.then(() => undefined)
      : stop.race(role.failure));
    if (failure === undefined) return 0;
    log.error('cannot go on', { reason: failure.message });
    return 1;
  } catch (error) {
    printFailure(command, error);
    return 1;
  } finally {
    await role.stop();
    await http.stop();
  }
}

/** @throws HttpServerError, and what the role throws */
async function startRole(role: Role, http: HttpHost, stop: StopRequest): Promise<true> {
  await http.open(role.httpPort);
  if (!stop.isMade) await role.start();
  return true;
}

/** Says that the role runs, and releases memory and rights that only the start needed. */
async function leaveStart(command: string, port: number | undefined, log: Log): Promise<void> {
  log.info('started', { command, port });
  void closeEarlyPorts();
  // Loaded late: these small programs do not otherwise load the C library bindings.
  releaseAfterStart(async () => (await import('@portolan/kernel/socket/program-pages.ts')).releasePages());
  const { confine } = await import('@portolan/kernel/socket/confinement.ts');
  dropPrivileges({ environment: process.env, log, confine });
}
