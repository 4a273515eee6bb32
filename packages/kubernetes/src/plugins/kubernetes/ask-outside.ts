/**
 * Asks the whole server for a name that an answer about a cluster leads to.
 */
import type { Reply } from '@portolan/dns/query.ts';
import type { Question } from '@portolan/dns/types.ts';
import { toReply } from '@portolan/kernel/chain/answer.ts';
import type { Chain } from '@portolan/kernel/chain/handler.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';

/** Maximum depth of queries that lead to one another. */
const MAX_DEPTH = 8;

/** @returns nothing for a query that too many others have led to, and for one without a response */
export async function askOutside(
  chain: Chain,
  query: Query,
  question: Question,
): Promise<Pick<Reply, 'answers' | 'truncated'>> {
  const asked = query.about(question);
  if (asked.depth > MAX_DEPTH) return {};
  const answer = await chain(asked);
  return answer.kind === 'drop' ? {} : toReply(answer);
}
