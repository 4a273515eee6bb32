/**
 * The words of a directive as the contract `@portolan/plugin` shows them.
 */
import type { Use, Word } from '@portolan/plugin';
import type { DirectiveUse } from '../../corefile/directive/directive-cursor.ts';
import { describePosition, type Position, type Token } from '../../corefile/syntax/token.ts';

/** Uses, and the positions of their words by `file:line`. */
export interface ShownUses {
  readonly uses: readonly Use[];
  readonly positions: ReadonlyMap<string, Position>;
}

export function showUses(uses: readonly DirectiveUse[]): ShownUses {
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
