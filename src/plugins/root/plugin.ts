/**
 * `root`: the folder of files that other directives name.
 */

import type { Directive } from '../../corefile/directive/directive.ts';
import type { RootOptions } from './options.ts';

/** `root PATH`. Source: plugin/root of CoreDNS 1.14.7. */
export const root: Directive<RootOptions> = {
  syntax: ['root PATH'],
  read(cursor, { files }) {
    let path = '';
    cursor.eachUse(() => {
      path = cursor.requiredArgument();
      if (files.kindOf(path) === undefined)
        cursor.warn('Files are found as soon as it does.', `Root path does not exist: ${path}`);
    });
    return { path };
  },
};
