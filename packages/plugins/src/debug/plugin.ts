/**
 * `debug`: lines of level debug are logged. Source: plugin/debug of CoreDNS 1.14.7.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { readBareUse } from '@portolan/plugin';

export const debug = definePlugin({
  name: 'debug',
  syntax: ['debug'],
  read(cursor): undefined {
    cursor.eachUse(() => readBareUse(cursor));
  },
});
