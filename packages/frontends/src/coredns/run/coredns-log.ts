/**
 * The log in CoreDNS's format: `[INFO] plugin/reload: …`, without a time.
 */
import type { LogLevel } from '@portolan/kernel/base/log.ts';
import { type AdjustableLog, createLogWithWriter } from '@portolan/server/observe/log.ts';

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

export function createCoreDnsLog({ isDebug, write }: CoreDnsLogOptions): AdjustableLog {
  return createLogWithWriter(isDebug ? 'debug' : 'info', (level, message, fields) => {
    const words = Object.entries(fields).flatMap(([key, value]) =>
      value === undefined ? [] : `${key}=${String(value).replaceAll(/\p{Cc}+/gu, ' ')}`,
    );
    write(`[${LEVELS[level]}] ${[message, ...words].join(' ')}\n`);
  });
}
