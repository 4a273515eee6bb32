/**
 * Colours of the output of commands. Words carry the meaning; colours repeat it.
 */
import { usesColours } from '@portolan/server/observe/log.ts';
import { type Paint, PLAIN } from '@portolan/server/reasons/render-explanation.ts';

const CODES = { good: 32, bad: 31, faint: 2 } as const;
const COLOURS: Paint = (style, text) => `\u001b[${CODES[style]}m${text}\u001b[0m`;

/** For standard output. */
export function choosePaint(): Paint {
  return usesColours(process.stdout.isTTY === true, process.env) ? COLOURS : PLAIN;
}
