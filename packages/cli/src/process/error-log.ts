/**
 * The log of programs without a format of their own, on standard error.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import type { LogLevel } from '@portolan/kernel/base/log.ts';
import { logLinesTo } from '@portolan/kernel/base/log-output.ts';
import { type AdjustableLog, createLog, usesColours } from '@portolan/server/observe/log.ts';
import type { LogFormat } from '@portolan/server/plan/query-log-plan.ts';

/** @param format default: text for a terminal, otherwise JSON */
export function createErrorLog(level: LogLevel, format?: LogFormat): AdjustableLog {
  const isTerminal = process.stderr.isTTY === true;
  return createLog({
    level,
    format: format ?? (isTerminal ? 'text' : 'json'),
    colours: usesColours(isTerminal, process.env),
    clock: systemClock,
    write: logLinesTo(process.stderr),
  });
}
