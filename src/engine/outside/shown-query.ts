/**
 * Queries as the contract `@portolan/plugin` shows them.
 */
import type { Query as ShownQuery } from '@portolan/plugin';
import type { Query } from '../../chain/query.ts';
import { parseName } from '../../wire/name.ts';
import { ReplyError } from './replies.ts';

/** Queries behind those that plugins of others see. */
const queries = new WeakMap<object, Query>();

export function showQuery(query: Query, signal: AbortSignal): ShownQuery {
  const { question } = query;
  const shown: ShownQuery = {
    ...{ name: question.name, type: question.type, zone: query.site.zone, signal },
    get client() {
      const { address, transport } = query.dependOnClient();
      return { address, transport };
    },
    with: ({ name = question.name, type = question.type }) =>
      showQuery(query.about({ ...question, name: parseName(name), type }), signal),
  };
  queries.set(shown, query);
  return shown;
}

/** @throws ReplyError for an object that is no query of ours */
export function queryOf(shown: ShownQuery): Query {
  const query = queries.get(shown);
  if (query === undefined) throw new ReplyError('a query that the host did not make');
  return query;
}
