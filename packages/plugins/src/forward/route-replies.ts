/**
 * How a route asks for a query, and makes an answer of the reply.
 */
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { DirectServers } from '@portolan/kernel/chain/reader-forwarding.ts';
import type { ForwardFailure } from '@portolan/kernel/forward/forward-reply.ts';
import type { Forwarder, ForwardQuestion, ForwardReply } from '@portolan/kernel/forward/forwarder.ts';
import type { ForwardMetrics } from './forward-metrics.ts';
import type { RouteServers } from './route-servers.ts';

export interface RouteReplies {
  toForwardQuestion(query: Query): ForwardQuestion;
  toAnswer(query: Query, question: ForwardQuestion, reply: ForwardReply): Answer | Promise<Answer>;
  /** The answer of a look. @param found why no server would be asked; undefined: one would */
  answerLook(found: ForwardFailure | undefined): Answer;
  /** How readers take part. */
  readonly direct: Pick<DirectServers, 'isUsable' | 'believesDenials'>;
  /** From now on, replies of these servers become answers here. */
  begin(servers: {
    readonly forwarder: Forwarder;
    /** Undefined: queries are not counted by server. */
    readonly counts: ForwardMetrics | undefined;
    readonly places: RouteServers['places'];
  }): void;
  /** Called after `begin` if the servers had another plan. @param before of that plan */
  follow?(before: RouteReplies): void;
}
