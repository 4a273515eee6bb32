/**
 * `loop`: finds out whether queries that are forwarded come back.
 */

import type { Directive } from '../../corefile/directive/directive.ts';
import { ROOT } from '../../wire/name.ts';
import type { LoopOptions } from './options.ts';

/** `loop`. Source: plugin/loop of CoreDNS 1.14.7. */
export const loop: Directive<LoopOptions> = {
  syntax: ['loop'],
  read(cursor, { zones }) {
    cursor.onlyUse(() => {
      if (cursor.argument() !== undefined)
        throw cursor.argumentError('Take the word out: this plugin has no settings.');
    });
    return { zone: zones[0] ?? ROOT };
  },
};
