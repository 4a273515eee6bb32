/**
 * The log: one line per event, as text for people or as JSON for collectors.
 *
 * A line is written whole and at once, so that the last words of a dying process are not lost.
 */
import type { Clock } from '../ground/clock.ts';
import type { Log, LogFields, LogLevel } from '../ground/log.ts';

export interface LogOptions {
  /** Less urgent lines are not written. */
  readonly level: LogLevel;
  readonly format: 'text' | 'json';
  readonly clock: Pick<Clock, 'now'>;
  /** Takes a line with its end. */
  readonly write: (line: string) => void;
}

const URGENCY: Readonly<Record<LogLevel, number>> = { error: 0, warn: 1, info: 2, debug: 3 };

type Render = (time: string, level: LogLevel, message: string, fields: LogFields) => string;

export function createLog({ level, format, clock, write }: LogOptions): Log {
  const render = format === 'json' ? renderJson : renderText;
  const writerOf = (urgency: LogLevel) => {
    if (URGENCY[urgency] > URGENCY[level]) return () => {};
    return (message: string, fields: LogFields = {}) =>
      write(`${render(new Date(clock.now()).toISOString(), urgency, message, fields)}\n`);
  };
  return {
    error: writerOf('error'),
    warn: writerOf('warn'),
    info: writerOf('info'),
    debug: writerOf('debug'),
  };
}

const renderJson: Render = (time, level, message, fields) =>
  JSON.stringify({ ...fields, time, level, message });

const renderText: Render = (time, level, message, fields) => {
  let line = `${time} ${level.toUpperCase().padEnd(5)} ${onOneLine(message)}`;
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) line += ` ${name}=${textOf(value)}`;
  }
  return line;
};

/** Bare where that is unambiguous, else quoted as in JSON: control characters never reach a terminal. */
function textOf(value: string | number | boolean): string {
  const text = String(value);
  return /^[!#-<>-~]+$/.test(text) ? text : JSON.stringify(text);
}

function onOneLine(message: string): string {
  return message.replaceAll(/\p{Cc}+/gu, ' ');
}
