/**
 * `local-names`: hosts files and records of options.
 */
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import { ofKind } from '../../contract/plugin.ts';
import { LocalNamesPlugin } from './local-names.ts';
import type { LocalNamesOptions } from './options.ts';

export const localNames = definePlainPlugin({
  name: 'local-names',
  create: (options: LocalNamesOptions, context, former) =>
    new LocalNamesPlugin(options, context, ofKind(LocalNamesPlugin, former)),
});
