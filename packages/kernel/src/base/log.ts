/**
 * The log interface of all other folders; `observe/` implements it.
 *
 * A message is a sentence without variable parts, so that equal events group; the variable parts are flat, printable
 * fields. Durations carry their unit: write them with `formatDuration` or `formatElapsed`.
 */
export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Log {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
}

/** A log without output: for tests, and for parts used on their own. */
export const silentLog: Log = { error() {}, warn() {}, info() {}, debug() {} };
