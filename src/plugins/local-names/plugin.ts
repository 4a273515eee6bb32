/**
 * `local-names`: hosts files and records of options.
 */
import { definePlainPlugin } from '../../contract/define-plugin.ts';
import { ofKind } from '../../contract/plugin.ts';
import { LocalNames } from './local-names.ts';
import type { LocalNamesOptions } from './options.ts';

export const localNames = definePlainPlugin({
  name: 'local-names',
  create: (options: LocalNamesOptions, context, former) =>
    new LocalNames(options, context, ofKind(LocalNames, former)),
});
