/**
 * The chain of a block: its handlers in order, each noted in the queries that it sees.
 */
import { EXTENDED_ERROR } from '@portolan/dns/extended-error.ts';
import type { Answer } from '../../chain/answer.ts';
import { type Chain, composeChain, type Handler } from '../../chain/handler.ts';

/** @returns a chain that answers queries which all handlers pass on */
export function createChain(handlers: readonly Handler[]): Chain {
  const last = handlers.at(-1)?.name;
  // A block without a handler refuses.
  const end: Answer =
    last === undefined
      ? { kind: 'refused', extendedError: EXTENDED_ERROR.NOT_AUTHORITATIVE }
      : { kind: 'servfail', reason: `plugin/${last}: no next plugin found` };
  return composeChain(handlers.map(noteHandler), (query) => {
    query.noteHandler('');
    return end;
  });
}

/** Wraps a handler so that it notes its name in each query that it sees. */
function noteHandler(handler: Handler): Handler {
  return {
    ...handler,
    handle(query, next) {
      query.noteHandler(handler.name);
      return handler.handle(query, next);
    },
  };
}
