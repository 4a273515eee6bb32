/**
 * `local-name`: a name of SkyDNS that has the records of another one.
 */
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import { createLocalNameHandler } from './local-name.ts';
import type { LocalNameOptions } from './options.ts';

export const localName = definePlainPlugin({
  name: 'local-name',
  create: (options: LocalNameOptions) => ({ handler: createLocalNameHandler(options) }),
});
