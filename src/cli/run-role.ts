/**
 * Runs the commands of auxiliary programs: flags, log, signals, exit code.
 */
import { systemClock } from '../base/clock.ts';
import type { Log, LogLevel } from '../base/log.ts';
import { logLinesTo } from '../base/log-output.ts';
import { describeProblem, type Problem } from '../config/values/problem.ts';
import { useEarlyPorts } from '../observe/http-server.ts';
import { createLog, usesColours } from '../observe/log.ts';
import { closeEarlyPorts, takeEarlyPort } from './early-ports.ts';
import { giveUpRights } from './give-up-rights.ts';
import { releaseAfterStart } from './release-after-start.ts';
import { onStopSignal, type StopSignal, stopHint } from './signals.ts';
import { VERSION } from './version.ts';

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
  const isTerminal = process.stderr.isTTY === true;
  const log = createLog({
    level: logLevel,
    format: isTerminal ? 'text' : 'json',
    colours: usesColours(isTerminal, process.env),
    clock: systemClock,
    write: logLinesTo(process.stderr),
  });
  useEarlyPorts(takeEarlyPort);
  const role = create(log);
  const stopped = new Promise<StopSignal>((resolve) => onStopSignal(resolve));
  try {
    await role.start();
  } catch (error) {
    process.stderr.write(`portolan ${command}: ${error instanceof Error ? error.message : String(error)}\n`);
    await role.stop();
    return 1;
  }
  log.info('started', { command, port: role.port });
  void closeEarlyPorts();
  // Loaded late: these small programs do not otherwise load the C library bindings.
  releaseAfterStart(async () => (await import('../socket/program-pages.ts')).releasePages());
  const { confine } = await import('../socket/confinement.ts');
  giveUpRights({ environment: process.env, log, confine });
  const end = await Promise.race([stopped, role.failure ?? stopped]);
  if (end instanceof Error) log.error('cannot go on', { reason: end.message });
  else log.info('stopping', { signal: end, hint: stopHint(end) });
  await role.stop();
  return end instanceof Error ? 1 : 0;
}
