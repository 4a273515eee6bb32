/**
 * `nsid`: the identity of the server.
 */

import { hostname } from 'node:os';
import { definePlugin } from '../../contract/define-plugin.ts';
import { createNsidHandler } from './nsid.ts';
import type { NsidOptions } from './options.ts';

/** `nsid [DATA]`. Source: plugin/nsid of CoreDNS 1.14.7. */
export const nsid = definePlugin({
  name: 'nsid',
  syntax: ['nsid [DATA]'],
  read(cursor): NsidOptions {
    let data: string | undefined;
    cursor.onlyUse(() => {
      const words = cursor.remainingArguments();
      if (words.length > 0) data = words.join(' ');
    });
    return { data };
  },
  create: (options) => ({ handler: createNsidHandler(options, hostname()) }),
});
