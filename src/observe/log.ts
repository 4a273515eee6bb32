/**
 * The log: one line per event, `time level message key=value` for people or JSON for collectors, with time, level and
 * message first in both.
 *
 * A line is written whole and at once, so that the last lines of a dying process are not lost.
 */
import type { Clock } from '../base/clock.ts';
import type { Log, LogFields, LogLevel } from '../base/log.ts';

/** A log whose level may be changed while the program runs. */
export interface AdjustableLog extends Log {
  /** Less urgent lines are not written. */
  level: LogLevel;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: 'text' | 'json';
  /** Colours the levels of text; see {@link usesColours}. */
  readonly colours?: boolean;
  readonly clock: Pick<Clock, 'now'>;
  /** Takes a line with its end. */
  readonly write: (line: string) => void;
}

const URGENCY: Readonly<Record<LogLevel, number>> = { error: 0, warn: 1, info: 2, debug: 3 };

type Render = (time: string, level: LogLevel, message: string, fields: LogFields) => string;

export function createLog({ level, format, colours = false, clock, write }: LogOptions): AdjustableLog {
  const render = format === 'json' ? renderJson : colours ? renderColours : renderText;
  const writerOf =
    (urgency: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (URGENCY[urgency] > URGENCY[log.level]) return;
      write(`${render(new Date(clock.now()).toISOString(), urgency, message, fields)}\n`);
    };
  const log: AdjustableLog = {
    level,
    error: writerOf('error'),
    warn: writerOf('warn'),
    info: writerOf('info'),
    debug: writerOf('debug'),
  };
  return log;
}

/** Whether lines are coloured: on a terminal, unless `NO_COLOR` (no-color.org) or `TERM=dumb` says no. */
export function usesColours(isTerminal: boolean, environment: NodeJS.ProcessEnv): boolean {
  return isTerminal && (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb';
}

/** A line of the log, without its end and without colours. @param time as it is shown */
export function renderLine(
  format: LogOptions['format'],
  time: string,
  level: LogLevel,
  message: string,
  fields: LogFields,
): string {
  return (format === 'json' ? renderJson : renderText)(time, level, message, fields);
}

const renderJson: Render = (time, level, message, fields) => {
  const own = { time, level, message };
  // Assigned twice: the order of the keys is that of the first time, their values are those of the last.
  return JSON.stringify(Object.assign({}, own, fields, own));
};

const renderText: Render = (time, level, message, fields) =>
  `${time} ${level.toUpperCase().padEnd(5)} ${onOneLine(message)}${renderFields(fields)}`;

/** The numbers of ANSI colours: red, yellow, green, blue. */
const COLOUR: Readonly<Record<LogLevel, number>> = { error: 31, warn: 33, info: 32, debug: 34 };
const FAINT = 2;

const renderColours: Render = (time, level, message, fields) => {
  const urgency = paint(COLOUR[level], level.toUpperCase().padEnd(5));
  const rest = renderFields(fields);
  return `${paint(FAINT, time)} ${urgency} ${onOneLine(message)}${rest === '' ? '' : paint(FAINT, rest)}`;
};

function paint(colour: number, text: string): string {
  return `\u001b[${colour}m${text}\u001b[0m`;
}

function renderFields(fields: LogFields): string {
  let text = '';
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) text += ` ${name}=${textOf(value)}`;
  }
  return text;
}

/** Bare where that is unambiguous, else quoted as in JSON: control characters never reach a terminal. */
function textOf(value: string | number | boolean): string {
  const text = String(value);
  return /^[!#-<>-~]+$/.test(text) ? text : JSON.stringify(text);
}

function onOneLine(message: string): string {
  return message.replaceAll(/\p{Cc}+/gu, ' ');
}
