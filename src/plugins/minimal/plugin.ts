/**
 * `minimal`: answers have only the necessary records. Source: plugin/minimal of CoreDNS 1.14.7.
 */
import { definePlugin } from '../../contract/define-plugin.ts';
import { readBareUse } from '../../corefile/directive/bare-directive.ts';
import { createMinimalHandler } from './minimal.ts';

export const minimal = definePlugin({
  name: 'minimal',
  syntax: ['minimal'],
  read(cursor): undefined {
    cursor.firstUse(() => readBareUse(cursor));
  },
  create: () => ({ handler: createMinimalHandler() }),
});
