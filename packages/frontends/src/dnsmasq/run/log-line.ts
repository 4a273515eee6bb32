/**
 * Formats log lines as dnsmasq and syslog do (RFC 3164 section 4.1).
 */
import type { LogLevel } from '@portolan/kernel/base/log.ts';

/** Syslog's severities. */
export const SEVERITY: Readonly<Record<LogLevel, number>> = { error: 3, warn: 4, info: 6, debug: 7 };

const FACILITIES: ReadonlyMap<string, number> = new Map([
  ...[
    'kern',
    'user',
    'mail',
    'daemon',
    'auth',
    'syslog',
    'lpr',
    'news',
    'uucp',
    'cron',
    'authpriv',
    'ftp',
  ].map((name, number) => [name, number] as const),
  // `security` is an alias of auth. `mark` is internal to syslogd and maps to the facility of its own messages.
  ['security', 4],
  ['mark', 5],
  ...Array.from({ length: 8 }, (_, number) => [`local${number}`, 16 + number] as const),
]);

const DAEMON = 3;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `<30>`: facility and severity as one number. @param facility a name from `--log-facility` */
export function formatPriority(facility: string, level: LogLevel): string {
  return `<${(FACILITIES.get(facility) ?? DAEMON) * 8 + SEVERITY[level]}>`;
}

/** `Nov  1 13:22:40`, local time. @param milliseconds since the epoch */
export function formatTimestamp(milliseconds: number): string {
  const date = new Date(milliseconds);
  const two = (number: number) => String(number).padStart(2, '0');
  const day = String(date.getDate()).padStart(2);
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  return `${MONTHS[date.getMonth()] ?? ''} ${day} ${time}`;
}

/** Replaces control characters, so that the text stays on one line. */
export function onOneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}
