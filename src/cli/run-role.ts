/**
 * Runs a program beside the server from its start to its end: its log, its signals, its exit code.
 */
import { systemClock } from '../ground/clock.ts';
import type { Log, LogLevel } from '../ground/log.ts';
import { createLog } from '../observe/log.ts';
import { onStopSignal } from './signals.ts';

export interface Role {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Where it answers by HTTP, once it does. */
  readonly port: number | undefined;
}

export interface RoleRun {
  /** The command's name, for messages. */
  readonly command: string;
  readonly logLevel: LogLevel;
  readonly create: (log: Log) => Role;
}

/** @returns the exit code, once it has stopped or could not start */
export async function runRole({ command, logLevel, create }: RoleRun): Promise<number> {
  // A collector of lines that goes away must not end the program.
  process.stderr.on('error', () => {});
  const log = createLog({
    ...{ level: logLevel, format: process.stderr.isTTY === true ? 'text' : 'json' },
    clock: systemClock,
    write: (line) => void process.stderr.write(line),
  });
  const role = create(log);
  const stopped = new Promise<string>((resolve) => onStopSignal(resolve));
  try {
    await role.start();
  } catch (error) {
    process.stderr.write(`portolan ${command}: ${error instanceof Error ? error.message : String(error)}\n`);
    await role.stop();
    return 1;
  }
  log.info('started', { command, port: role.port });
  log.info('stopping', { signal: await stopped });
  await role.stop();
  return 0;
}
