/**
 * `any`: questions for all types get HINFO (RFC 8482). Source: plugin/any of CoreDNS 1.14.7.
 */
import { definePlugin } from '../../contract/define-plugin.ts';
import { readBareUse } from '../../corefile/directive/bare-directive.ts';
import { createObsoleteAnyHandler } from './obsolete-any.ts';

export const any = definePlugin({
  name: 'any',
  answers: true,
  syntax: ['any'],
  read(cursor): undefined {
    cursor.firstUse(() => readBareUse(cursor));
  },
  create: () => ({ handler: createObsoleteAnyHandler() }),
});
