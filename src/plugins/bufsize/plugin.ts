/**
 * `bufsize`: the EDNS buffer size of queries.
 */

import { definePlugin } from '../../contract/define-plugin.ts';
import { DirectiveError } from '../../corefile/directive/directive-cursor.ts';
import { parseInteger } from '../../corefile/directive/go-values.ts';
import { createBufsizeHandler } from './bufsize.ts';
import type { BufsizeOptions } from './options.ts';

const DEFAULT_SIZE = 1232;
const MIN_SIZE = 512;
const MAX_SIZE = 4096;

/** `bufsize [SIZE]`: 512 to 4096, 1232. Source: plugin/bufsize of CoreDNS 1.14.7. */
export const bufsize = definePlugin({
  name: 'bufsize',
  syntax: ['bufsize [SIZE]'],
  read(cursor): BufsizeOptions {
    let size = DEFAULT_SIZE;
    cursor.firstUse(() => {
      const words = cursor.remainingArguments();
      const given = parseInteger(words[0] ?? String(DEFAULT_SIZE));
      const isRight =
        words.length <= 1 && given.kind === 'good' && given.value >= MIN_SIZE && given.value <= MAX_SIZE;
      if (!isRight) {
        const { message, position } = cursor.argumentError();
        // CoreDNS writes the plugin's name twice here.
        const remedy = `Give one number of octets from ${MIN_SIZE} to ${MAX_SIZE}.`;
        throw new DirectiveError(`plugin/bufsize: ${message}`, position, remedy);
      }
      size = given.value;
    });
    return { size };
  },
  create: (options) => ({ handler: createBufsizeHandler(options) }),
});
