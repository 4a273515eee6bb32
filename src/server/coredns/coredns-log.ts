/**
 * The log in CoreDNS's format: `[INFO] plugin/reload: …`, without a time.
 */
import type { Log, LogFields, LogLevel } from '../../base/log.ts';

export interface CoreDnsLogOptions {
  /** Whether to write debug lines: the plugin `debug`. */
  readonly isDebug: boolean;
  /** Writes a line, including its newline. */
  readonly write: (line: string) => void;
}

const LEVELS: Readonly<Record<LogLevel, string>> = {
  error: 'ERROR',
  warn: 'WARNING',
  info: 'INFO',
  debug: 'DEBUG',
};

export function createCoreDnsLog({ isDebug, write }: CoreDnsLogOptions): Log {
  const writerOf =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      const words = Object.entries(fields).flatMap(([key, value]) =>
        value === undefined ? [] : `${key}=${String(value)}`,
      );
      write(`[${LEVELS[level]}] ${[message, ...words].join(' ')}\n`);
    };
  return {
    error: writerOf('error'),
    warn: writerOf('warn'),
    info: writerOf('info'),
    debug: isDebug ? writerOf('debug') : () => {},
  };
}
