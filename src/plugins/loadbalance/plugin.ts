/**
 * `loadbalance`: the order of addresses in an answer.
 */

import { definePlugin } from '../../contract/define-plugin.ts';
import type { DirectiveCursor } from '../../corefile/directive/directive-cursor.ts';
import { parseCidr, parseGoDuration } from '../../corefile/directive/go-values.ts';
import { createLoadbalanceHandler } from './loadbalance.ts';
import type { LoadbalanceOptions } from './options.ts';

/** Source: plugin/loadbalance of CoreDNS 1.14.7. Its policy `weighted` and its property `prefer` are not supported. */
export const loadbalance = definePlugin({
  name: 'loadbalance',
  syntax: ['loadbalance [round_robin]'],
  read(cursor): LoadbalanceOptions {
    cursor.eachUse(() => {
      const words = cursor.remainingArguments();
      const [policy = 'round_robin'] = words;
      if (policy === 'weighted') readWeighted(cursor, words.length);
      else if (policy !== 'round_robin')
        throw cursor.bareError(
          `unknown policy: ${policy}`,
          'The policy is round_robin, which needs not be written.',
        );
      else if (words.length > 1)
        throw cursor.error(`unknown property for ${policy}`, 'Take what stands behind round_robin out.');
      cursor.properties({ prefer: () => readPrefer(cursor) });
    });
    return { policy: 'round_robin' };
  },
  create: () => ({ handler: createLoadbalanceHandler() }),
});

function readWeighted(cursor: DirectiveCursor, words: number): never {
  const remedy = 'Write weighted FILE.';
  if (words < 2) throw cursor.error('missing weight file argument', remedy);
  if (words > 2) throw cursor.error('unexpected argument(s)', remedy);
  cursor.properties({ reload: () => readReload(cursor) });
  throw cursor.bareError(
    'weighted is not built into Portolan',
    'Take it out: addresses are then shuffled alike.',
  );
}

function readReload(cursor: DirectiveCursor): void {
  const words = cursor.remainingArguments();
  const [text] = words;
  const remedy = 'Give one duration such as 30s.';
  if (text === undefined) throw cursor.error('reload duration value is missing', remedy);
  if (words.length > 1) throw cursor.error('unexpected argument', remedy);
  const duration = parseGoDuration(text);
  if (duration.kind === 'bad') throw cursor.error(`invalid reload duration '${text}'`, remedy);
  if (duration.value < 0) throw cursor.error(`invalid reload duration '${text}'`, remedy);
}

function readPrefer(cursor: DirectiveCursor): void {
  for (const word of cursor.remainingArguments()) {
    const range = parseCidr(word);
    if (range.kind === 'bad')
      throw cursor.error(
        `invalid CIDR ${JSON.stringify(word)}: ${range.fault}`,
        'Write ranges as in 10.0.0.0/8.',
      );
  }
  throw cursor.bareError(
    'prefer is not built into Portolan',
    'Take the line out: addresses are then shuffled alike.',
  );
}
