/**
 * The log of `portolan dnsmasq`: where dnsmasq's own options say, in dnsmasq's own form.
 *
 * To a file and to standard error lines go as dnsmasq writes them; to syslog as datagrams to its socket. Where there is no
 * syslog, as in most containers, a process in the foreground says everything on standard error instead of nowhere.
 */
import { writeSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import type { Log, LogFields, LogLevel } from '../../base/log.ts';
import type { DnsmasqLogPlan, ProcessPlan } from '../../config/dnsmasq/dnsmasq-plan.ts';
import { connectUnixDatagram } from '../../socket/unix-datagram.ts';
import { LogFile } from './log-file.ts';
import { formatPriority, formatTimestamp, onOneLine } from './log-line.ts';

/** A log that can follow its file when that is rotated. */
export interface DnsmasqLog extends Log {
  /** SIGUSR2. @throws LogFileError, and stays with the file that it has */
  reopen(): void;
  /** Before the process ends. */
  flush(): void;
}

export interface DnsmasqLogOptions {
  readonly plan: DnsmasqLogPlan;
  readonly mode: ProcessPlan['mode'];
  /** Of the process. */
  readonly pid: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly writeError: (line: string) => void;
  /** The socket of syslog. */
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
  const say = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (level === 'debug' && !plan.debug) return;
    const text = onOneLine(`${message}${textOf(fields)}`);
    for (const sink of sinks) sink(level, text);
  };
  return {
    error: say('error'),
    warn: say('warn'),
    info: say('info'),
    debug: say('debug'),
    reopen: () => file?.reopen(),
    flush: () => file?.flush(),
  };
}

function openSink(options: DnsmasqLogOptions, file: LogFile | undefined): Sink | undefined {
  const { plan, mode, pid, clock, writeError } = options;
  const stamped = (text: string) => `${formatTimestamp(clock.now())} dnsmasq[${pid}]: ${text}\n`;
  if (file !== undefined) return (_level, text) => file.write(stamped(text));
  if (plan.to.kind === 'syslog') return openSyslog(options, plan.to.facility);
  // What is said in debug mode is echoed there already.
  if (mode === 'debug') return undefined;
  // Supervisors of processes in the foreground stamp lines themselves.
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
    // The daemon may have been restarted, or be there at last.
    if (fd === undefined || !send(fd, line)) {
      fd = connectUnixDatagram(syslogPath);
      if (fd !== undefined) send(fd, line);
    }
  };
}

function send(fd: number, line: string): boolean {
  try {
    writeSync(fd, line);
    return true;
  } catch (error) {
    // A queue that is full loses the line, as it does for dnsmasq.
    return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
  }
}

function echoTo({ writeError }: DnsmasqLogOptions): Sink {
  return (_level, text) => writeError(`dnsmasq: ${text}\n`);
}

function textOf(fields: LogFields | undefined): string {
  if (fields === undefined) return '';
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${String(value)}`)
    .join('');
}
