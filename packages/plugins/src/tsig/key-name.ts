/**
 * Names of keys, in the directives that use them.
 */
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { tryParseKey } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';

/** The only word of a line. @throws DirectiveError */
export function readKeyName(cursor: DirectiveCursor): NameKey {
  const [text = ''] = cursor.remainingBetween(1, 1);
  const name = tryParseKey(text);
  if (name === undefined)
    throw cursor.error(`invalid key name ${JSON.stringify(text)}`, 'Give the name of a key of tsig.');
  return name;
}
