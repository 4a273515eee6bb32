/**
 * Runs a server in dnsmasq's manner: log, identity, pid file, signals, exit code.
 *
 * The order is dnsmasq's: read the options, open the log and the sockets, write the pid file, then drop root privileges. All steps that
 * need root come before.
 */
import { networkInterfaces } from 'node:os';
import { systemClock } from '../base/clock.ts';
import { logLinesTo } from '../base/log-output.ts';
import { countCores, readersAtOnceFor } from '../config/cores.ts';
import type { DnsmasqPlan } from '../config/dnsmasq/dnsmasq-plan.ts';
import { EXIT, type ExitCode } from '../config/dnsmasq/exit-codes.ts';
import type { Note } from '../config/dnsmasq/findings.ts';
import { type ControlPlace, placeOfServer, placeOfUser } from '../observe/control/control-place.ts';
import { LocalNamesPlugin } from '../plugins/local-names/local-names.ts';
import { createServerControl } from '../server/control/server-control.ts';
import { DnsmasqFrontEnd } from '../server/dnsmasq/dnsmasq-front-end.ts';
import { type DnsmasqLog, openDnsmasqLog } from '../server/dnsmasq/dnsmasq-log.ts';
import { assumeIdentity, becomesUser, findIdentity, type UserAndGroup } from '../server/dnsmasq/identity.ts';
import { writePidFile } from '../server/dnsmasq/pid-file.ts';
import { notesOnPlan } from '../server/dnsmasq/plan-notes.ts';
import { describeFailure, exitCodeOf } from '../server/dnsmasq/start-failure.ts';
import { collectStatistics, describeStatistics } from '../server/dnsmasq/statistics.ts';
import { Server } from '../server/server.ts';
import { extendBlocks } from './blocks-extra.ts';
import { serverDependencies } from './server-dependencies.ts';
import {
  onEnd,
  onReloadSignal,
  onReopenSignal,
  onReportSignal,
  onStopSignal,
  type StopSignal,
} from './signals.ts';
import { startTelemetry } from './telemetry.ts';
import { VERSION } from './version.ts';

export interface DnsmasqRun {
  /** The command's name, for messages. */
  readonly command: string;
  readonly plan: DnsmasqPlan;
  readonly notes: readonly Note[];
  /** Until when after the stop signal to answer on while queries arrive: milliseconds. Default: 0, as in dnsmasq. */
  readonly drain?: number;
  /** Called when the server answers queries. */
  readonly onServing?: () => Promise<void>;
  /** Creates the companion, which runs from before the server's start until its end. */
  readonly companion?: (beside: Beside) => Companion;
}

/** The parts of the server that a companion may use. */
export interface Beside {
  readonly frontEnd: DnsmasqFrontEnd;
  /** Writes the statistics to the log. */
  readonly report: () => void;
  readonly log: DnsmasqLog;
}

export interface Companion {
  start(): Promise<void>;
  stop(): void;
}

/** @returns the exit code when the server has stopped or failed to start */
export async function runDnsmasqServer(run: DnsmasqRun): Promise<ExitCode> {
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

async function startAndStop({ plan, notes, drain = 0, onServing, companion }: DnsmasqRun): Promise<ExitCode> {
  const identity = findIdentity(plan.process);
  const allNotes = [...notes, ...notesOnPlan(plan, process.getuid?.() === 0)];
  // Do not keep a file system busy. As in dnsmasq, relative paths now start at `/`.
  if (plan.process.mode !== 'debug') process.chdir('/');
  const log = openLog(plan);
  const { frontEnd, server } = await makeServer(plan, drain, log);
  const report = () => {
    const seconds = Math.floor(systemClock.now() / 1000);
    for (const line of describeStatistics(collectStatistics(server, plan), seconds)) log.info(line);
  };
  const control = createServerControl({
    ...{ server, place: controlPlaceFor(plan, identity), role: 'dnsmasq', log, messages: log },
    format: 'text',
    clock: systemClock,
  });
  const beside = companion?.({ frontEnd, report, log });
  const stopped = new Promise<StopSignal>((resolve) => onStopSignal(resolve));
  try {
    await beside?.start();
    await server.start();
    settle(plan, identity);
    // As the user that the process is from now on: the kernel tells clients who began to listen.
    await control.start();
  } catch (error) {
    beside?.stop();
    await server.stop();
    await control.stop();
    log.flush();
    throw error;
  }
  for (const { where, text } of allNotes) log.warn(`${where}: ${text}`);
  followSignals(server, report, log);
  const telemetry = await startTelemetry(server, 'dnsmasq', log);
  await onServing?.();
  const signal = await stopped;
  log.info(`exiting on receipt of ${signal}`);
  beside?.stop();
  await server.stop();
  await telemetry?.stop();
  await control.stop();
  log.flush();
  return signal === 'SIGINT' && plan.process.mode === 'debug' ? EXIT.OTHER : EXIT.GOOD;
}

/** A folder for the user that a process of root becomes; else the default place. */
function controlPlaceFor({ process: { mode } }: DnsmasqPlan, identity: UserAndGroup): ControlPlace {
  // As in dnsmasq, debug mode keeps its user.
  const user = mode === 'debug' ? undefined : becomesUser(identity);
  return user === undefined ? placeOfServer(undefined, 'dnsmasq') : placeOfUser(user, 'dnsmasq');
}

/** Writes the pid file, then drops root privileges. */
function settle({ process: { mode, pidFile } }: DnsmasqPlan, identity: UserAndGroup): void {
  // As in dnsmasq, debug mode writes no pid file.
  if (mode === 'debug') return;
  if (pidFile !== undefined) {
    const file = writePidFile(pidFile, identity);
    onEnd(() => file?.remove());
  }
  assumeIdentity(identity);
}

function openLog({ log, process: { mode } }: DnsmasqPlan): DnsmasqLog {
  return openDnsmasqLog({
    plan: log,
    mode,
    pid: process.pid,
    clock: systemClock,
    writeError: logLinesTo(process.stderr),
  });
}

async function makeServer(plan: DnsmasqPlan, drain: number, log: DnsmasqLog) {
  const frontEnd = new DnsmasqFrontEnd(plan, {
    interfaces: networkInterfaces,
    udpReaders: readersAtOnceFor(countCores()),
    version: VERSION,
    drain,
    fileOf: (record) => server.engine.find(LocalNamesPlugin)?.handlers.fileOf(record),
    clock: systemClock,
    log,
  });
  const served = await extendBlocks(frontEnd, plan.process.blocksExtra, log);
  const server = new Server(served, serverDependencies(log));
  return { frontEnd, server };
}

function followSignals(server: Server, report: () => void, log: DnsmasqLog): void {
  onReloadSignal(() => void server.reload());
  onReportSignal(report);
  onReopenSignal(() => {
    server.queryLog.reopen();
    try {
      log.reopen();
    } catch (error) {
      log.error(error instanceof Error ? error.message : String(error));
    }
  });
}
