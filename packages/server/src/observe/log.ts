/**
 * The log: one line per event, as `time level message key=value` or as JSON. Time, level and message come first in both formats.
 *
 * Each line is written synchronously, so that the last lines of a dying process are not lost.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log, LogFields, LogLevel } from '@portolan/kernel/base/log.ts';

/** A log whose level can change at run time. */
export interface AdjustableLog extends Log {
  /** Less urgent lines are not written. */
  level: LogLevel;
}

export interface LogSettings {
  readonly level: LogLevel;
  readonly format: 'text' | 'json';
  /** Whether to colour the levels of text; see {@link usesColours}. */
  readonly colours?: boolean;
  readonly clock: Pick<Clock, 'now'>;
  /** Writes a line, including its newline. */
  readonly write: (line: string) => void;
}

const URGENCY: Readonly<Record<LogLevel, number>> = { error: 0, warn: 1, info: 2, debug: 3 };

/** Whether a line is written at a level of the log. */
function isWritten(level: LogLevel, at: LogLevel): boolean {
  return URGENCY[level] <= URGENCY[at];
}

type FormatLine = (time: string, level: LogLevel, message: string, fields: LogFields) => string;

export function createLog({ level, format, colours = false, clock, write }: LogSettings): AdjustableLog {
  const render = format === 'json' ? renderJson : colours ? renderColours : renderText;
  return createLogWithWriter(level, (urgency, message, fields) =>
    write(`${render(new Date(clock.now()).toISOString(), urgency, message, fields)}\n`),
  );
}

/** A log in another form. @param write called for each message that is urgent enough */
export function createLogWithWriter(
  level: LogLevel,
  write: (level: LogLevel, message: string, fields: LogFields) => void,
): AdjustableLog {
  const makeWriter =
    (urgency: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (isWritten(urgency, log.level)) write(urgency, message, fields);
    };
  const log: AdjustableLog = {
    level,
    error: makeWriter('error'),
    warn: makeWriter('warn'),
    info: makeWriter('info'),
    debug: makeWriter('debug'),
  };
  return log;
}

/** Whether to colour lines: on a terminal, unless `NO_COLOR` (no-color.org) or `TERM=dumb` is set. */
export function usesColours(isTerminal: boolean, environment: NodeJS.ProcessEnv): boolean {
  return isTerminal && (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb';
}

/** Renders a log line without newline and colours. @param time as shown */
export function renderLine(
  format: LogSettings['format'],
  time: string,
  level: LogLevel,
  message: string,
  fields: LogFields,
): string {
  return (format === 'json' ? renderJson : renderText)(time, level, message, fields);
}

const renderJson: FormatLine = (time, level, message, fields) => {
  const own = { time, level, message };
  // Assign `own` twice: the first time fixes the key order, the last time the values.
  return JSON.stringify(Object.assign({}, own, fields, own));
};

const renderText: FormatLine = (time, level, message, fields) =>
  `${time} ${level.toUpperCase().padEnd(5)} ${onOneLine(message)}${renderFields(fields)}`;

/** ANSI colour numbers: red, yellow, green, blue. */
const COLOUR: Readonly<Record<LogLevel, number>> = { error: 31, warn: 33, info: 32, debug: 34 };
const FAINT = 2;

const renderColours: FormatLine = (time, level, message, fields) => {
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
    if (value !== undefined) text += ` ${name}=${formatValue(value)}`;
  }
  return text;
}

/** Unquoted if unambiguous, otherwise quoted as in JSON: control characters never reach a terminal. */
function formatValue(value: string | number | boolean): string {
  const text = String(value);
  return /^[!#-<>-~]+$/.test(text) ? text : JSON.stringify(text);
}

function onOneLine(message: string): string {
  return message.replaceAll(/\p{Cc}+/gu, ' ');
}
