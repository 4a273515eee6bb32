/**
 * `nsid`: the identity of the server.
 */

import type { Directive } from '../../corefile/directive/directive.ts';
import type { NsidOptions } from './options.ts';

/** `nsid [DATA]`. Source: plugin/nsid of CoreDNS 1.14.7. */
export const nsid: Directive<NsidOptions> = {
  syntax: ['nsid [DATA]'],
  read(cursor) {
    let data: string | undefined;
    cursor.onlyUse(() => {
      const words = cursor.remainingArguments();
      if (words.length > 0) data = words.join(' ');
    });
    return { data };
  },
};
