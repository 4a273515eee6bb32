/**
 * A log that a test can read.
 */
import type { Log, LogFields, LogLevel } from '../log.ts';

export interface LogRecord {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

export class RecordingLog implements Log {
  readonly records: LogRecord[] = [];

  error(message: string, fields: LogFields = {}): void {
    this.records.push({ level: 'error', message, fields });
  }

  warn(message: string, fields: LogFields = {}): void {
    this.records.push({ level: 'warn', message, fields });
  }

  info(message: string, fields: LogFields = {}): void {
    this.records.push({ level: 'info', message, fields });
  }

  debug(message: string, fields: LogFields = {}): void {
    this.records.push({ level: 'debug', message, fields });
  }

  /** The whole log as text, for checks that it does not leak data. */
  get text(): string {
    return JSON.stringify(this.records);
  }
}
