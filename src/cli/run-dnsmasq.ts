/**
 * Runs a server in dnsmasq's manner from its start to its end: log, identity, pid file, signals, exit code.
 *
 * In dnsmasq's order: the options are read, the log and the sockets are opened, the pid file is written, then the process
 * becomes its user; all that only root may do is done by then.
 */
import { networkInterfaces } from 'node:os';
import { countCores } from '../config/cores.ts';
import { EXIT, type ExitCode } from '../config/dnsmasq/exit-codes.ts';
import type { Note } from '../config/dnsmasq/findings.ts';
import type { DnsmasqPlan } from '../config/dnsmasq/plan.ts';
import { readersFor } from '../config/serve-flags.ts';
import { systemClock } from '../ground/clock.ts';
import { type DnsmasqLog, openDnsmasqLog } from '../server/dnsmasq/dnsmasq-log.ts';
import { DnsmasqServer } from '../server/dnsmasq/dnsmasq-server.ts';
import { assumeIdentity, findIdentity, type Identity } from '../server/dnsmasq/identity.ts';
import { removePidFile, writePidFile } from '../server/dnsmasq/pid-file.ts';
import { notesOnPlan } from '../server/dnsmasq/plan-notes.ts';
import { describeFailure, exitCodeOf } from '../server/dnsmasq/start-failure.ts';
import { onReloadSignal, onReopenSignal, onReportSignal, onStopSignal, type StopSignal } from './signals.ts';
import { VERSION } from './version.ts';

export interface DnsmasqRun {
  /** The command's name, for messages. */
  readonly command: string;
  readonly plan: DnsmasqPlan;
  readonly notes: readonly Note[];
  /** Called once it serves. */
  readonly onServing?: () => Promise<void>;
  /** Somebody who stands beside the server, from before its start until its end. */
  readonly companion?: (server: DnsmasqServer, log: DnsmasqLog) => Companion;
}

export interface Companion {
  start(): Promise<void>;
  stop(): void;
}

/** @returns the exit code, once it has stopped or could not start */
export async function runDnsmasqServer(run: DnsmasqRun): Promise<ExitCode> {
  // Whoever reads the log may go away, and that must not end the server.
  process.stderr.on('error', () => {});
  const hold = setInterval(() => {}, 2 ** 30);
  try {
    return await startAndStop(run);
  } catch (error) {
    process.stderr.write(`\nportolan ${run.command}: ${describeFailure(error)}\n`);
    return exitCodeOf(error);
  } finally {
    clearInterval(hold);
  }
}

async function startAndStop({ plan, notes, onServing, companion }: DnsmasqRun): Promise<ExitCode> {
  const identity = findIdentity(plan.process);
  const allNotes = [...notes, ...notesOnPlan(plan, process.getuid?.() === 0)];
  // No folder is kept from being unmounted; relative paths are those of dnsmasq.
  if (plan.process.mode !== 'debug') process.chdir('/');
  const log = openLog(plan);
  const server = new DnsmasqServer(plan, surroundings(log));
  const beside = companion?.(server, log);
  const stopped = new Promise<StopSignal>((resolve) => onStopSignal(resolve));
  try {
    await beside?.start();
    await server.start();
    settle(plan, identity);
  } catch (error) {
    beside?.stop();
    await server.stop();
    log.flush();
    throw error;
  }
  for (const { where, text } of allNotes) log.warn(`${where}: ${text}`);
  followSignals(server, log);
  await onServing?.();
  const signal = await stopped;
  log.info(`exiting on receipt of ${signal}`);
  beside?.stop();
  await server.stop();
  if (hasPidFile(plan)) removePidFile(plan.process.pidFile);
  log.flush();
  return signal === 'SIGINT' && plan.process.mode === 'debug' ? EXIT.OTHER : EXIT.GOOD;
}

/** What is left to do for root, and then to be root no more. */
function settle(plan: DnsmasqPlan, identity: Identity): void {
  if (plan.process.mode === 'debug') return;
  if (hasPidFile(plan)) writePidFile(plan.process.pidFile, process.pid, identity);
  assumeIdentity(identity);
}

/** Nobody looks for the number of a process that is debugged. */
function hasPidFile(
  plan: DnsmasqPlan,
): plan is DnsmasqPlan & { readonly process: { readonly pidFile: string } } {
  return plan.process.mode !== 'debug' && plan.process.pidFile !== undefined;
}

function openLog({ log, process: { mode } }: DnsmasqPlan): DnsmasqLog {
  return openDnsmasqLog({
    ...{ plan: log, mode, pid: process.pid, clock: systemClock },
    writeError: (line) => void process.stderr.write(line),
  });
}

function surroundings(log: DnsmasqLog) {
  return {
    interfaces: networkInterfaces,
    readerEntry: new URL('./reader.js', import.meta.url),
    udpReaders: readersFor(countCores()),
    version: VERSION,
    clock: systemClock,
    log,
  };
}

function followSignals(server: DnsmasqServer, log: DnsmasqLog): void {
  onReloadSignal(() => server.reload());
  onReportSignal(() => server.report());
  onReopenSignal(() => {
    try {
      log.reopen();
    } catch (error) {
      log.error(error instanceof Error ? error.message : String(error));
    }
  });
}
