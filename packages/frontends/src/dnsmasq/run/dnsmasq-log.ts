/**
 * The log of `portolan dnsmasq`, with dnsmasq's options for its destination and in dnsmasq's format.
 *
 * Lines go to a file or to standard error as dnsmasq writes them, or to syslog as datagrams. Most containers have no syslog; there a
 * foreground process logs to standard error.
 */
import { writeSync } from 'node:fs';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { LogFields, LogLevel } from '@portolan/kernel/base/log.ts';
import { noteLostLines } from '@portolan/kernel/base/log-output.ts';
import { findErrorCode } from '@portolan/kernel/base/system-errors.ts';
import { connectUnixDatagram } from '@portolan/kernel/socket/unix-datagram.ts';
import { type AdjustableLog, createLogWithWriter } from '@portolan/server/observe/log.ts';
import type { DnsmasqLogPlan, ProcessPlan } from '../settings/dnsmasq-plan.ts';
import { LogFile } from './log-file.ts';
import { formatPriority, formatTimestamp, onOneLine } from './log-line.ts';

/** A log that can reopen its file after rotation. */
export interface DnsmasqLog extends AdjustableLog {
  /** Reopens the file (SIGUSR2). @throws LogFileError and keeps the current file */
  reopen(): void;
  /** Call this before the process ends. */
  flush(): void;
}

export interface DnsmasqLogOptions {
  readonly plan: DnsmasqLogPlan;
  readonly mode: ProcessPlan['mode'];
  /** The number of the process. */
  readonly pid: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly writeError: (line: string) => void;
  /** The syslog socket. */
  readonly syslogPath?: string;
}

type Sink = (level: LogLevel, text: string) => void;

const SYSLOG_PATH = '/dev/log';

/** @throws LogFileError */
export function openDnsmasqLog(options: DnsmasqLogOptions): DnsmasqLog {
  const { plan, mode } = options;
  const file = plan.to.kind === 'file' ? new LogFile(plan.to.path) : undefined;
  const sinks = [openSink(options, file), ...(mode === 'debug' ? [echoTo(options)] : [])].filter(
    (sink) => sink !== undefined,
  );
  const log = createLogWithWriter(plan.debug ? 'debug' : 'info', (level, message, fields) => {
    const text = onOneLine(`${message}${formatFields(fields)}`);
    for (const sink of sinks) sink(level, text);
  });
  return Object.assign(log, { reopen: () => file?.reopen(), flush: () => file?.flush() });
}

function openSink(options: DnsmasqLogOptions, file: LogFile | undefined): Sink | undefined {
  const { plan, mode, pid, clock, writeError } = options;
  const stamped = (text: string) => `${formatTimestamp(clock.now())} dnsmasq[${pid}]: ${text}\n`;
  if (file !== undefined) return (_level, text) => file.write(stamped(text));
  if (plan.to.kind === 'syslog') return openSyslog(options, plan.to.facility);
  // Debug mode already echoes all lines there.
  if (mode === 'debug') return undefined;
  // Supervisors of foreground processes add their own timestamps.
  if (mode === 'foreground') return (_level, text) => writeError(`dnsmasq[${pid}]: ${text}\n`);
  return (_level, text) => writeError(stamped(text));
}

function openSyslog(options: DnsmasqLogOptions, facility: string): Sink | undefined {
  const { mode, pid, clock, writeError, syslogPath = SYSLOG_PATH } = options;
  let fd = connectUnixDatagram(syslogPath);
  if (fd === undefined && mode === 'foreground')
    return (_level, text) => writeError(`dnsmasq[${pid}]: ${text}\n`);
  return (level, text) => {
    const line = `${formatPriority(facility, level)}${formatTimestamp(clock.now())} dnsmasq[${pid}]: ${text}`;
    // The daemon may have started or restarted.
    if (fd === undefined || !send(fd, line)) {
      fd = connectUnixDatagram(syslogPath);
      if (fd === undefined || !send(fd, line)) noteLostLines(1);
    }
  };
}

function send(fd: number, line: string): boolean {
  try {
    writeSync(fd, line);
    return true;
  } catch (error) {
    if (findErrorCode(error) !== 'EAGAIN') return false;
    // As in dnsmasq, a full queue loses the line.
    noteLostLines(1);
    return true;
  }
}

function echoTo({ writeError }: DnsmasqLogOptions): Sink {
  return (_level, text) => writeError(`dnsmasq: ${text}\n`);
}

function formatFields(fields: LogFields): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${String(value)}`)
    .join('');
}
