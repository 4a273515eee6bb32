/**
 * The syntax tree of a Corefile: server blocks with their keys and directives.
 */
import type { Position, Token } from './token.ts';

/** All uses of one directive in one block. */
export interface DirectiveNode {
  readonly name: string;
  /** The words of all uses, each beginning with the directive's name. */
  readonly tokens: readonly Token[];
  /** The words of `tokens` that begin a use. */
  readonly heads: ReadonlySet<Token>;
  readonly position: Position;
}

export interface BlockNode {
  /** As written, with variables expanded; at least one. */
  readonly keys: readonly Token[];
  /** Includes directives of unknown names, which are reported. */
  readonly directives: ReadonlyMap<string, DirectiveNode>;
}
