/**
 * Runs the commands of auxiliary programs: flags, log, signals, exit code.
 */
import { describeError } from '../../base/describe-error.ts';
import type { Log, LogLevel } from '../../base/log.ts';
import { describeProblem, type Problem } from '../../config/values/problem.ts';
import { useEarlyPorts } from '../../observe/http-server.ts';
import { dropPrivileges } from '../process/drop-privileges.ts';
import { closeEarlyPorts, takeEarlyPort } from '../process/early-ports.ts';
import { createErrorLog } from '../process/error-log.ts';
import { releaseAfterStart } from '../process/release-after-start.ts';
import { stopHint } from '../process/signals.ts';
import { StopRequest } from '../process/stop-request.ts';
import { VERSION } from '../process/version.ts';

export interface Role {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** The port of its HTTP server when it listens. */
  readonly port: number | undefined;
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
  readonly inPlaceOf: string;
  readonly helpText: () => string;
  readonly logLevel: (reading: Good) => LogLevel;
  readonly create: (reading: Good, log: Log) => Role;
}

/** @returns the exit code when the program has stopped or failed to start */
export async function runRoleCommand<Good extends { readonly kind: 'good' }>(
  reading: RoleReading<Good>,
  { name, inPlaceOf, helpText, logLevel, create }: RoleCommand<Good>,
): Promise<number> {
  switch (reading.kind) {
    case 'help':
      process.stdout.write(helpText());
      return 0;
    case 'version':
      process.stdout.write(`Portolan version ${VERSION}, in place of ${inPlaceOf}\n`);
      return 0;
    case 'bad':
      for (const problem of reading.problems)
        process.stderr.write(`portolan ${name}: ${describeProblem(problem)}\n`);
      return reading.exitCode ?? 2;
    case 'good':
      return await runRole({
        command: name,
        logLevel: logLevel(reading),
        create: (log) => create(reading, log),
      });
  }
}

interface RoleRun {
  /** The command's name, for messages. */
  readonly command: string;
  readonly logLevel: LogLevel;
  readonly create: (log: Log) => Role;
}

/** @returns the exit code when the role has stopped or failed to start */
async function runRole({ command, logLevel, create }: RoleRun): Promise<number> {
  const log = createErrorLog(logLevel);
  useEarlyPorts(takeEarlyPort);
  const role = create(log);
  const stop = new StopRequest((signal) => log.info('stopping', { signal, hint: stopHint(signal) }));
  try {
    // The start may wait for an API server; a signal ends that wait.
    const isRunning = await stop.race(role.start().then(() => true));
    if (isRunning === true) await leaveStart(command, role, log);
  } catch (error) {
    process.stderr.write(`portolan ${command}: ${describeError(error)}\n`);
    await role.stop();
    return 1;
  }
  const failure = await (role.failure === undefined
    ? stop.signal.then(() => undefined)
    : stop.race(role.failure));
  if (failure !== undefined) log.error('cannot go on', { reason: failure.message });
  await role.stop();
  return failure === undefined ? 0 : 1;
}

/** Says that the role runs, and releases memory and rights that only the start needed. */
async function leaveStart(command: string, { port }: Role, log: Log): Promise<void> {
  log.info('started', { command, port });
  void closeEarlyPorts();
  // Loaded late: these small programs do not otherwise load the C library bindings.
  releaseAfterStart(async () => (await import('../../socket/program-pages.ts')).releasePages());
  const { confine } = await import('../../socket/confinement.ts');
  dropPrivileges({ environment: process.env, log, confine });
}
