/**
 * `erratic`: answers that are late, truncated or missing, to test clients.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseGoDuration, parseInteger } from '@portolan/corefile/directive/go-values.ts';
import { Erratic } from './erratic.ts';
import type { ErraticOptions } from './options.ts';

const DEFAULT_AMOUNT = 2;
const DEFAULT_DURATION = 100;
const MAX_AMOUNT = 2 ** 31 - 1;
const REMEDY = 'Give a whole number from 0.';

/** Source: plugin/erratic of CoreDNS 1.14.7. Its manual does not have `large`. */
export const erratic = definePlugin({
  name: 'erratic',
  answers: true,
  syntax: [
    'erratic {',
    '    drop [AMOUNT]',
    '    truncate [AMOUNT]',
    '    delay [AMOUNT [DURATION]]',
    '    large',
    '}',
  ],
  read(cursor): ErraticOptions {
    let drop: number | undefined;
    let truncate = 0;
    let delay = 0;
    let duration = 0;
    let isLarge = false;
    cursor.eachUse(() =>
      cursor.properties({
        drop: () => {
          drop = readAmount(cursor, cursor.remainingBetween(0, 1)) ?? drop;
        },
        truncate: () => {
          const given = readAmount(cursor, cursor.remainingBetween(0, 1));
          if (given === undefined) cursor.warn('truncate has no effect without a number. Give one from 0.');
          truncate = given ?? truncate;
        },
        delay: () => {
          const words = cursor.remainingBetween(0, 2);
          delay = readAmount(cursor, words) ?? DEFAULT_AMOUNT;
          duration = readDuration(cursor, words[1]);
        },
        large: () => {
          isLarge = true;
        },
      }),
    );
    // Drop queries by default only if they are neither delayed nor truncated.
    const dropDefault = delay > 0 || truncate > 0 ? 0 : DEFAULT_AMOUNT;
    return { drop: drop ?? dropDefault, truncate, delay, duration, isLarge };
  },
  create: (options, { clock }) => new Erratic(options, clock),
});

/** @returns undefined if the line has no amount */
function readAmount(cursor: DirectiveCursor, [text]: readonly string[]): number | undefined {
  if (text === undefined) return undefined;
  const given = parseInteger(text);
  const fault = `strconv.ParseInt: parsing ${JSON.stringify(text)}: `;
  if (given.kind === 'bad' && given.fault.endsWith('invalid syntax'))
    throw cursor.bareError(`${fault}invalid syntax`, REMEDY);
  if (given.kind === 'bad' || Math.abs(given.value) > MAX_AMOUNT)
    throw cursor.bareError(`${fault}value out of range`, REMEDY);
  if (given.value < 0) throw cursor.bareError(`illegal amount value given ${JSON.stringify(text)}`, REMEDY);
  return given.value;
}

function readDuration(cursor: DirectiveCursor, text: string | undefined): number {
  if (text === undefined) return DEFAULT_DURATION;
  return cursor.bare(parseGoDuration(text), 'Give a duration such as 100ms.');
}
