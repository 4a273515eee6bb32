/**
 * The directives without any settings: `any`, `debug`, `minimal`, `whoami`.
 */

import type { Directive } from './directive.ts';
import type { DirectiveCursor } from './directive-cursor.ts';

const REMEDY = 'Take the word out: this plugin has no settings.';

function bareDirective(
  name: string,
  readUses: (cursor: DirectiveCursor, read: () => void) => void,
): Directive<undefined> {
  return {
    syntax: [name],
    read(cursor) {
      readUses(cursor, () => {
        if (cursor.argument() !== undefined) throw cursor.argumentError(REMEDY);
      });
      return undefined;
    },
  };
}

const readFirst = (cursor: DirectiveCursor, read: () => void): void => cursor.firstUse(read);
const readEach = (cursor: DirectiveCursor, read: () => void): void => cursor.eachUse(read);

/** `any`: questions for all types get HINFO (RFC 8482). Source: plugin/any of CoreDNS 1.14.7. */
export const any = bareDirective('any', readFirst);
/** `debug`: internal errors end the process, and lines of level debug are logged. Source: plugin/debug. */
export const debug = bareDirective('debug', readEach);
/** `minimal`: only what must be in an answer is. Source: plugin/minimal. */
export const minimal = bareDirective('minimal', readFirst);
/** `whoami`: the client's own address and port. Source: plugin/whoami. */
export const whoami = bareDirective('whoami', readFirst);
