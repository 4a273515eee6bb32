/**
 * What every room may write to without knowing who listens. `observe/` implements it.
 *
 * Fields are flat and printable; a message is a sentence without its variable parts, so that equal events group.
 */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Log {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
}

/** A log that nobody reads: for tests and for rooms used on their own. */
export const silentLog: Log = { error() {}, warn() {}, info() {}, debug() {} };
