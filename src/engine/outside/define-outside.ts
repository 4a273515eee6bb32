/**
 * Makes the definition of a plugin of others, which the registry takes like those of our own.
 */
import type { PluginModule, Use, Word } from '@portolan/plugin';
import { Pattern } from '../../base/pattern.ts';
import type { CorefilePluginDefinition } from '../../contract/define-plugin.ts';
import { resolvePath } from '../../corefile/directive/directive.ts';
import { DirectiveError, type DirectiveUse } from '../../corefile/directive/directive-cursor.ts';
import { parseError } from '../../corefile/syntax/findings.ts';
import { describePosition, type Position, type Token } from '../../corefile/syntax/token.ts';
import { createOutsidePlugin } from './outside-plugin.ts';
import { readRecordText } from './replies.ts';

const API = 1;

/** @returns a fault of the module; undefined: it has the right shape */
export function checkModule(module: unknown, name: string): string | undefined {
  if (typeof module !== 'object' || module === null) return 'it has no default export';
  const { api, name: own, before, syntax, parse, create } = module as Partial<PluginModule>;
  if (api !== API) return `it is for API ${String(api)}, and this server has API ${API}`;
  if (own !== name) return `its name is ${String(own)}`;
  if (typeof before !== 'string') return 'it names no plugin that it stands before';
  if (!Array.isArray(syntax)) return 'it has no syntax';
  return typeof parse === 'function' && typeof create === 'function' ? undefined : 'it lacks parse or create';
}

/** @param before the plugin that sees queries directly after it */
export function defineOutside(
  module: PluginModule,
  before: string,
): CorefilePluginDefinition<string, unknown> {
  return {
    name: module.name,
    before,
    answers: true,
    syntax: module.syntax,
    read(cursor, context) {
      const { uses, positions } = showUses(cursor.uses());
      try {
        return module.parse(uses, {
          zones: context.zones,
          resolve: (path) => resolvePath(path, context),
          readRecord: readRecordText,
          readPattern: (text) => new Pattern(text),
        });
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        const { at, remedy } = error as { readonly at?: string; readonly remedy?: string };
        const position = positions.get(at ?? '') ?? cursor.position;
        const text = remedy ?? `Compare the line with its syntax: ${module.syntax.join(' or ')}`;
        cursor.refuse(new DirectiveError(parseError(position, message), position, text));
        return undefined;
      }
    },
    create: (options, context) => createOutsidePlugin(module, options, context),
  };
}

/** Uses, and the positions of their words by `file:line`. */
interface ShownUses {
  readonly uses: readonly Use[];
  readonly positions: ReadonlyMap<string, Position>;
}

/** The words of a directive as the contract `@portolan/plugin` shows them. */
function showUses(uses: readonly DirectiveUse[]): ShownUses {
  const positions = new Map<string, Position>();
  const show = ({ text, position }: Token): Word => {
    const at = describePosition(position);
    if (!positions.has(at)) positions.set(at, position);
    return { text, at };
  };
  const shown = uses.map(({ head, args, lines }) => ({
    name: show(head),
    args: args.map(show),
    lines: lines.map((line) => line.map(show)),
  }));
  return { uses: shown, positions };
}
