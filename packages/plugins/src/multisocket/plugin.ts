/**
 * `multisocket`: how many sockets listen on each address.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { parseInteger } from '@portolan/corefile/directive/go-values.ts';
import type { MultisocketOptions } from './options.ts';

const MAX_SOCKETS = 1024;
const REMEDY = `Give a number from 1 to ${MAX_SOCKETS}, or none for one socket a processor.`;

/** `multisocket [SOCKETS]`. Source: plugin/multisocket of CoreDNS 1.14.7. */
export const multisocket = definePlugin({
  name: 'multisocket',
  syntax: ['multisocket [SOCKETS]'],
  read(cursor): MultisocketOptions {
    let sockets: number | undefined;
    cursor.firstUse(() => {
      const words = cursor.remainingArguments();
      if (words.length > 1) throw cursor.argumentError(REMEDY);
      const [text] = words;
      if (text === undefined) return;
      const given = parseInteger(text);
      if (given.kind === 'bad') throw cursor.bareError(`invalid num sockets: ${given.fault}`, REMEDY);
      if (given.value < 1)
        throw cursor.bareError(`num sockets can not be zero or negative: ${given.value}`, REMEDY);
      if (given.value > MAX_SOCKETS)
        throw cursor.bareError(`num sockets exceeds maximum (${MAX_SOCKETS}): ${given.value}`, REMEDY);
      sockets = given.value;
    });
    cursor.eachUse(() => {
      throw cursor.argumentError('Take the second multisocket out.');
    });
    return { sockets };
  },
});
