/**
 * The ask rules of a block: questions that its handlers must see although their names are published.
 */
import { encodeName } from '@portolan/dns/name.ts';
import type { AskRule } from '../table/types.ts';
import type { Handler } from './handler.ts';
import { covers, type Match, NO_QUESTIONS } from './match.ts';
import type { Query } from './query.ts';

/** First meta-type: types from here on ask about the server or the zone (RFC 6895 section 3.1). Nodes never answer them. */
const FIRST_META_TYPE = 249;

/** Questions that handlers must see before the table answers with a name published, or an answer cached, behind them. */
export function* listAskRules(handlers: readonly Handler[]): Iterable<AskRule> {
  const lastPublisher = handlers.findLastIndex(({ role }) => role === 'publisher');
  const first = findThoseBeforeCache(handlers);
  for (const [place, handler] of handlers.entries()) {
    const beforeCache = first.has(handler);
    if (handler.role === 'cache') continue;
    const isBehindNodes = place > lastPublisher && !beforeCache;
    for (const match of handler.flags === undefined || beforeCache
      ? listMatches(handler)
      : namesBehind(handlers, place)) {
      // Readers must know for whom a stored answer is, and for which options, wherever the handler is.
      if (isBehindNodes && match.byFamily !== true && match.ednsOptions === undefined) continue;
      // The cache holds answers of the handlers behind it, of any type.
      if (beforeCache) yield { ...toAskRule(match), beforeCache };
      else if (concernsNodes(match)) yield toAskRule(match);
    }
  }
}

/** Whether an answer that the chain has made of a query is for readers that look before the cache, as the rules say. */
export function isBeforeCache(handlers: readonly Handler[], { key, question, edns }: Query): boolean {
  const isCovered = (match: Match) =>
    covers(match, key, question.type) && (match.dnssecOk !== true || edns?.dnssecOk === true);
  return [...findThoseBeforeCache(handlers)].some((handler) => [...listMatches(handler)].some(isCovered));
}

/** The handlers whose answers differ from those of the cache behind them. Caches of our own front ends are no handlers. */
function findThoseBeforeCache(handlers: readonly Handler[]): ReadonlySet<Handler> {
  const cache = handlers.findIndex(({ role }) => role === 'cache');
  const first =
    cache < 0 ? handlers.filter((each) => each.changesAnswers === true) : handlers.slice(0, cache);
  return new Set(first);
}

function listMatches(handler: Handler): Iterable<Match> {
  const { role } = handler;
  return (role === 'publisher' ? (handler.unpublished ?? NO_QUESTIONS) : handler.questions).matches();
}

/** A handler that changes flags must see questions for all names published behind it: nodes have flags of their own. */
function* namesBehind(handlers: readonly Handler[], place: number): Iterable<Match> {
  for (const { role, questions } of handlers.slice(place))
    if (role === 'publisher') for (const { name } of questions.matches()) yield { name, types: 'all' };
}

function concernsNodes({ types }: Match): boolean {
  return types === 'all' || [...types].some((type) => type < FIRST_META_TYPE);
}

function toAskRule({ name, ...others }: Match): AskRule {
  return { name: name.kind === 'any' ? name : { kind: name.kind, name: encodeName(name.name) }, ...others };
}
