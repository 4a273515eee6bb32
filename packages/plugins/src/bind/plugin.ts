/**
 * `bind`: the addresses that a server block listens on.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { DirectiveContext } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { isAddress } from '@portolan/corefile/directive/go-values.ts';

export interface BindOptions {
  /** Addresses in the order given, with interfaces replaced by their addresses, and a zone (`%eth0`) where needed. */
  readonly addresses: readonly string[];
}

/** `bind ADDRESS|INTERFACE… { except ADDRESS|INTERFACE… }`. Source: plugin/bind of CoreDNS 1.14.7. */
export const bind = definePlugin({
  name: 'bind',
  syntax: ['bind ADDRESS|INTERFACE… {\n    except ADDRESS|INTERFACE…\n}'],
  read(cursor, context): BindOptions {
    const addresses: string[] = [];
    cursor.eachUse(() => {
      const words = cursor.remainingArguments();
      if (words.length === 0)
        throw cursor.bareError(
          'at least one address or interface name is expected',
          'Name addresses or interfaces, or take the line out to listen on all addresses.',
        );
      const listed = words.flatMap((word) => listAddresses(word, cursor, context));
      const excepted: string[] = [];
      cursor.properties({ except: () => excepted.push(...readExcept(cursor, context)) }, (name) =>
        cursor.bareError(`invalid option ${JSON.stringify(name)}`, 'The only option is except.'),
      );
      addresses.push(...listed.filter((address) => !excepted.includes(address)));
    });
    return { addresses };
  },
});

function readExcept(cursor: DirectiveCursor, context: DirectiveContext): readonly string[] {
  const words = cursor.remainingArguments();
  if (words.length === 0)
    throw cursor.bareError(
      'at least one address or interface must be given to except subdirective',
      'Name addresses or interfaces behind except.',
    );
  return words.flatMap((word) => listAddresses(word, cursor, context));
}

function listAddresses(
  word: string,
  cursor: DirectiveCursor,
  { interfaces }: DirectiveContext,
): readonly string[] {
  const addresses = interfaces.get(word);
  if (addresses !== undefined) return addresses;
  if (isAddress(word)) return [word];
  throw cursor.bareError(
    `not a valid IP address or interface name: ${JSON.stringify(word)}`,
    `This machine has the interfaces ${[...interfaces.keys()].join(', ')}.`,
  );
}
