/**
 * `autopath`: searches the domains of a client in its place.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { type DirectiveContext, zonesOrBlock } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseZone } from '@portolan/corefile/keys/zone-name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { describeSystemError } from '@portolan/kernel/base/system-errors.ts';
import { ANSWER_TABLE, BLOCK, PLAN } from '@portolan/kernel/contract/services.ts';
import { parseSearchDomains } from '@portolan/kernel/forward/resolv-conf.ts';
import type { AutopathOptions } from './options.ts';

const REMEDY = 'Give @kubernetes, or a file with a line such as search example.org example.com.';

/** `autopath [ZONES…] FILE` or `autopath [ZONES…] @PLUGIN`. Source: plugin/autopath of CoreDNS 1.14.7. */
export const autopath = definePlugin({
  name: 'autopath',
  syntax: ['autopath [ZONES…] RESOLV-CONF', 'autopath [ZONES…] @kubernetes|@kubernetai'],
  read(cursor, context): AutopathOptions {
    let { zones } = context;
    let domains: readonly NameKey[] = [];
    let plugin: string | undefined;
    cursor.eachUse(() => {
      const words = cursor.remainingArguments();
      const last = words.at(-1);
      if (last === undefined) throw cursor.bareError('no resolv-conf specified', REMEDY);
      if (last.startsWith('@')) plugin = last.slice(1);
      else domains = readDomains(last, cursor, context);
      zones = zonesOrBlock(words.slice(0, -1), context);
      if (cursor.nextInBlock()) throw cursor.argumentError('It has no block.');
    });
    // A plugin takes precedence, whatever the order of the lines.
    if (plugin === undefined) return { zones, source: { kind: 'domains', domains } };
    return { zones, source: { kind: 'plugin', name: plugin } };
  },
  async load() {
    const { Autopath } = await import('./autopath.ts');
    return {
      create(options, context) {
        const { pluginNames } = context.use(BLOCK);
        const { restored } = context.use(PLAN);
        return new Autopath(options, { ...context, restored, pluginNames, table: context.use(ANSWER_TABLE) });
      },
    };
  },
});

function readDomains(path: string, cursor: DirectiveCursor, { files }: DirectiveContext): readonly NameKey[] {
  const refusal = (fault: string) =>
    cursor.bareError(`failed to parse ${JSON.stringify(path)}: open ${path}: ${fault}`, REMEDY);
  if (files.findKind(path) === undefined) throw refusal('no such file or directory');
  let words: readonly string[] = [];
  try {
    words = parseSearchDomains(files.read(path));
  } catch (error) {
    throw refusal(describeSystemError(error));
  }
  if (words.length === 0) cursor.warn(REMEDY, `No search domains in ${JSON.stringify(path)}`);
  return words.flatMap((word) => parseZone(word) ?? []);
}
