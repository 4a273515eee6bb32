/**
 * `timeouts`: limits of connections of clients: times, and number of queries.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { Draft } from '@portolan/corefile/directive/directive.ts';
import { type DirectiveCursor, DirectiveError } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseGoDuration, parseInteger } from '@portolan/corefile/directive/go-values.ts';
import { formatGoDuration } from '@portolan/kernel/base/duration.ts';

export interface TimeoutsOptions {
  /** Milliseconds, 1000 to 86,400,000, for all three timeouts. Undefined: 3 s. */
  readonly read: number | undefined;
  /** Undefined: 5 s. */
  readonly write: number | undefined;
  /** Undefined: 10 s. */
  readonly idle: number | undefined;
  /** Maximum number of queries on one connection; -1 or undefined: any number. */
  readonly maxTcpQueries: number | undefined;
}

const MIN_TIMEOUT = 1000;
const MAX_TIMEOUT = 24 * 3_600_000;
const TIMEOUTS = ['read', 'write', 'idle'] as const;

/** `timeouts { read D; write D; idle D; maxtcpqueries N }`. Source: plugin/timeouts of CoreDNS 1.14.7. */
export const timeouts = definePlugin({
  name: 'timeouts',
  syntax: [
    'timeouts {',
    '    read DURATION',
    '    write DURATION',
    '    idle DURATION',
    '    maxtcpqueries NUMBER',
    '}',
  ],
  read(cursor): TimeoutsOptions {
    const draft: Draft<TimeoutsOptions> = {
      read: undefined,
      write: undefined,
      idle: undefined,
      maxTcpQueries: undefined,
    };
    cursor.eachUse(() => {
      if (cursor.remainingArguments().length > 0) throw twiceNamed(cursor.argumentError());
      let lines = 0;
      while (cursor.nextInBlock()) {
        lines += 1;
        cursor.guardLine(() => readLine(cursor, draft));
      }
      if (lines === 0)
        throw twiceNamed(
          cursor.error(
            'timeouts block with no timeouts specified',
            'Write read, write, idle or maxtcpqueries into its block.',
          ),
        );
    });
    return draft;
  },
});

/** CoreDNS writes the plugin's name twice here. */
function twiceNamed({ message, position, remedy }: DirectiveError): DirectiveError {
  return new DirectiveError(`plugin/timeouts: ${message}`, position, remedy);
}

function readLine(cursor: DirectiveCursor, draft: Draft<TimeoutsOptions>): void {
  const name = cursor.word;
  const [text = ''] = cursor.remainingBetween(1, 1);
  if (name === 'maxtcpqueries') {
    draft.maxTcpQueries = readQueries(cursor, text);
    return;
  }
  const timeout = readTimeout(cursor, text);
  const known = TIMEOUTS.find((one) => one === name);
  if (known === undefined)
    throw cursor.error(`unknown option: '${name}'`, 'Known here: read, write, idle, maxtcpqueries.');
  draft[known] = timeout;
}

function readQueries(cursor: DirectiveCursor, text: string): number {
  const remedy = 'Give a number from 1, or -1 for any number.';
  const queries = parseInteger(text);
  if (queries.kind === 'bad')
    throw cursor.error(`invalid value for maxtcpqueries '${text}': ${queries.fault}`, remedy);
  if (queries.value === 0 || queries.value < -1)
    throw cursor.error(
      `maxtcpqueries provided '${queries.value}' needs to be -1 (unlimited) or a positive integer`,
      remedy,
    );
  return queries.value;
}

/** A number without a unit is in seconds. */
function readTimeout(cursor: DirectiveCursor, text: string): number {
  const remedy = 'Give a duration from 1s to 24h.';
  const duration = parseGoDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (duration.kind === 'bad') throw cursor.error(`failed to parse duration '${text}'`, remedy);
  if (duration.value < MIN_TIMEOUT || duration.value > MAX_TIMEOUT)
    throw cursor.error(
      `timeout provided '${formatGoDuration(duration.value)}' needs to be between 1 second and 24 hours`,
      remedy,
    );
  return duration.value;
}
