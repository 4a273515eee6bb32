/**
 * The ask rules of a block: the questions that its handlers must see although the names they are about are published.
 */
import type { AskRule } from '../table/types.ts';
import { encodeName } from '../wire/name.ts';
import type { Handler } from './handler.ts';
import { type Match, NO_QUESTIONS } from './match.ts';

/** From here on types are questions about the server or the zone; readers answer none of them from nodes (RFC 6895 section 3.1). */
const FIRST_META_TYPE = 249;

/** What handlers must see before a name that is published, or an answer that is cached, behind them is given from the table. */
export function* askRulesOf(handlers: readonly Handler[]): Iterable<AskRule> {
  const lastPublisher = handlers.findLastIndex(({ role }) => role === 'publisher');
  const cache = handlers.findIndex(({ role }) => role === 'cache');
  for (const [place, handler] of handlers.entries()) {
    const beforeCache = place < cache;
    if (handler.role === 'cache' || (place > lastPublisher && !beforeCache)) continue;
    const isPublisher = handler.role === 'publisher';
    const questions = isPublisher ? (handler.unpublished ?? NO_QUESTIONS) : handler.questions;
    for (const match of questions.matches()) {
      // Cached answers are those of the handlers behind, whatever the type.
      if (beforeCache) yield { ...askRuleOf(match), beforeCache };
      else if (concernsNodes(match)) yield askRuleOf(match);
    }
  }
}

function concernsNodes({ types }: Match): boolean {
  return types === 'all' || [...types].some((type) => type < FIRST_META_TYPE);
}

function askRuleOf({ name, ...others }: Match): AskRule {
  return { name: name.kind === 'any' ? name : { kind: name.kind, name: encodeName(name.name) }, ...others };
}
