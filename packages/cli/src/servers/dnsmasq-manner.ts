/**
 * How dnsmasq behaves as a process: its log, identity, pid file, statistics and exit codes.
 *
 * The order is dnsmasq's: read the options, open the log and the sockets, write the pid file, then drop root privileges. All steps that
 * need root come before.
 */
import { type DnsmasqLog, openDnsmasqLog } from '@portolan/frontends/dnsmasq/run/dnsmasq-log.ts';
import {
  becomesUser,
  findIdentity,
  switchUser,
  type UserAndGroup,
} from '@portolan/frontends/dnsmasq/run/identity.ts';
import { writePidFile } from '@portolan/frontends/dnsmasq/run/pid-file.ts';
import { notesOnPlan } from '@portolan/frontends/dnsmasq/run/plan-notes.ts';
import { describeFailure, toExitCode } from '@portolan/frontends/dnsmasq/run/start-failure.ts';
import { collectStatistics, describeStatistics } from '@portolan/frontends/dnsmasq/run/statistics.ts';
import type { DnsmasqPlan } from '@portolan/frontends/dnsmasq/settings/dnsmasq-plan.ts';
import { EXIT } from '@portolan/frontends/dnsmasq/settings/exit-codes.ts';
import type { Note } from '@portolan/frontends/dnsmasq/settings/findings.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { logLinesTo } from '@portolan/kernel/base/log-output.ts';
import {
  type ControlPlace,
  placeOfServer,
  placeOfUser,
} from '@portolan/server/observe/control/control-place.ts';
import type { Server } from '@portolan/server/server.ts';
import type { Manner } from '../process/manner.ts';
import { onEnd } from '../process/signals.ts';

export interface DnsmasqManner extends Manner {
  readonly log: DnsmasqLog;
  readonly report: (server: Server) => void;
}

/**
 * Opens the log. From here on, relative paths start at `/`, as in dnsmasq.
 *
 * @param command the command's name, for messages
 * @throws IdentityError, LogFileError
 */
export function openDnsmasqManner(command: string, plan: DnsmasqPlan, notes: readonly Note[]): DnsmasqManner {
  const identity = findIdentity(plan);
  const allNotes = [...notes, ...notesOnPlan(plan, process.getuid?.() === 0)];
  const isDebug = plan.process.mode === 'debug';
  // Do not keep a file system busy.
  if (!isDebug) process.chdir('/');
  const log = openLog(plan);
  // As in dnsmasq, debug mode keeps its user.
  const user = isDebug ? undefined : becomesUser(identity);
  return {
    role: ROLE,
    log,
    format: 'text',
    controlPlace: placeOfProcess(user),
    changesUser: user !== undefined,
    reloadSignal: 'SIGHUP',
    report: (server) => reportStatistics(server, plan, log),
    reopenLog: () => log.reopen(),
    noteStop: (signal) => log.info(`exiting on receipt of ${signal}`),
    settle: () => {
      if (!isDebug) settle(plan, identity);
      for (const { where, text } of allNotes) log.warn(`${where}: ${text}`);
    },
    end: () => log.flush(),
    exitCode: (signal) => (signal === 'SIGINT' && isDebug ? EXIT.OTHER : EXIT.GOOD),
    fail: (error) => {
      log.flush();
      return failAsDnsmasq(command, error);
    },
  };
}

/** Prints why the process cannot run. @returns dnsmasq's exit code */
export function failAsDnsmasq(command: string, error: unknown): number {
  process.stderr.write(`\nportolan ${command}: ${describeFailure(error)}\n`);
  return toExitCode(error);
}

/** The name of both commands in telemetry and of their control socket. */
const ROLE = 'dnsmasq';

/** @param user the user to which root switches, and who owns the folder; undefined: the process keeps its user */
function placeOfProcess(user: number | undefined): ControlPlace {
  return user === undefined ? placeOfServer(undefined, ROLE) : placeOfUser(user, ROLE);
}

/** Writes the pid file, then drops root privileges. */
function settle({ process: { pidFile } }: DnsmasqPlan, identity: UserAndGroup): void {
  if (pidFile !== undefined) {
    const file = writePidFile(pidFile, identity);
    onEnd(() => file?.remove());
  }
  switchUser(identity);
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

function reportStatistics(server: Server, plan: DnsmasqPlan, log: DnsmasqLog): void {
  const seconds = Math.floor(systemClock.now() / 1000);
  for (const line of describeStatistics(collectStatistics(server, plan), seconds)) log.info(line);
}
