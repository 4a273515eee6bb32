/**
 * `whoami`: the client's own address and port. Source: plugin/whoami of CoreDNS 1.14.7.
 */
import { definePlugin } from '../../contract/define-plugin.ts';
import { readBareUse } from '../../corefile/directive/bare-directive.ts';
import { createWhoamiHandler } from './whoami.ts';

export const whoami = definePlugin({
  name: 'whoami',
  answers: true,
  syntax: ['whoami'],
  read(cursor): undefined {
    cursor.firstUse(() => readBareUse(cursor));
  },
  create: () => ({ handler: createWhoamiHandler() }),
});
