/**
 * `debug`: lines of level debug are logged. Source: plugin/debug of CoreDNS 1.14.7.
 */
import { readBareUse } from '@portolan/plugin';
import { definePlugin } from '../../contract/define-plugin.ts';

export const debug = definePlugin({
  name: 'debug',
  syntax: ['debug'],
  read(cursor): undefined {
    cursor.eachUse(() => readBareUse(cursor));
  },
});
