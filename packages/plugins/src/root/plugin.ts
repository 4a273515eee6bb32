/**
 * `root`: the base folder of files that other directives name.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';

export interface RootOptions {
  readonly path: string;
}

/** `root PATH`. Source: plugin/root of CoreDNS 1.14.7. */
export const root = definePlugin({
  name: 'root',
  joinsBlocks: true,
  syntax: ['root PATH'],
  read(cursor, { files }): RootOptions {
    let path = '';
    cursor.eachUse(() => {
      path = cursor.requiredArgument();
      if (files.findKind(path) === undefined)
        cursor.warn('Files are found as soon as it does.', `Root path does not exist: ${path}`);
    });
    return { path };
  },
});
