/**
 * Replies of servers as clients get them under a Corefile. Equal questions are merged, and each client gets its share of the queries in
 * flight. Clients get replies with the flags of the server.
 *
 * EDNS options that servers may act on are passed on. Queries that do not ask for records go on as they came. Where
 * `own-query` is restored all of them do, and where `forward-equal-questions` is, each goes by itself.
 */
import { readPassedErrors } from '@portolan/dns/extended-error.ts';
import { isWithin, ROOT, toKey } from '@portolan/dns/name.ts';
import { encodePassedOn } from '@portolan/dns/passing-options.ts';
import { wantsAuthenticData } from '@portolan/dns/query.ts';
import {
  type AbsoluteName,
  CLASS,
  type Edns,
  type Message,
  OPCODE,
  type ResourceRecord,
} from '@portolan/dns/types.ts';
import type { Answer, OwnEdns } from '@portolan/kernel/chain/answer.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { messageToAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import type { RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import { extendedErrorOfFailure, type ForwardFailure } from '@portolan/kernel/forward/forward-reply.ts';
import type { ForwardQuestion, ForwardReply } from '@portolan/kernel/forward/forwarder.ts';
import { describeFailure, findLocalAddress } from '@portolan/kernel/forward/network-errors.ts';
import { type PassedOnBy, writeReceived } from '@portolan/kernel/forward/transport/query-message.ts';
import type { ForwardMetrics } from './forward-metrics.ts';
import type { ReplyForm } from './options.ts';
import type { RouteReplies } from './route-replies.ts';
import type { RouteServers } from './route-servers.ts';

type SentForm = Extract<ReplyForm, { kind: 'as-sent' }>;

/** Types from here to 255 are questions about zones and servers (RFC 6895 section 3.1). */
const FIRST_META_TYPE = 128;

export class SentReplies implements RouteReplies {
  readonly direct: RouteReplies['direct'] = { isUsable: () => true, believesDenials: () => true };
  readonly #form: SentForm;
  /** Whether servers get queries of our own for questions about records. */
  readonly #asksItself: boolean;
  #places: RouteServers['places'] = new Map();
  #counts: ForwardMetrics | undefined;

  /** @param restored with `own-query`, servers are asked by the queries of clients */
  constructor(form: SentForm, restored: RestoredDeviations) {
    this.#form = form;
    this.#asksItself = !restored.has('own-query');
  }

  begin({ counts, places }: Parameters<RouteReplies['begin']>[0]): void {
    this.#counts = counts;
    this.#places = places;
  }

  answerLook(): Answer {
    return { kind: 'servfail' };
  }

  toForwardQuestion(query: Query): ForwardQuestion {
    const question = { ...query.questionKey, name: query.question.name };
    if (this.#asksItself && asksForRecords(query)) {
      const options = encodePassedOn(query.edns?.options);
      return options === undefined ? question : { ...question, options };
    }
    const byClient = query.sender.transport === 'udp' ? 'udp' : 'only-tcp';
    return { ...question, asReceived: writeReceived(query, this.#form.prefersUdp ? undefined : byClient) };
  }

  toAnswer(query: Query, { asReceived }: ForwardQuestion, reply: ForwardReply): Answer | Promise<Answer> {
    if (reply.kind === 'failed') return this.#fail(reply, asReceived?.passedOnBy);
    query.noteMetadata('forward/upstream', this.#places.get(reply.upstream)?.label ?? reply.upstream);
    return passOn(query, reply.message, asReceived !== undefined);
  }

  async #fail({ reason, detail }: ForwardFailure, passedOnBy: PassedOnBy): Promise<Answer> {
    if (reason === 'overloaded') {
      this.#counts?.rejected();
      const { maxConcurrent } = this.#form;
      return {
        kind: 'overloaded',
        reason: maxConcurrent === 0 ? detail : `concurrent queries exceeded maximum ${maxConcurrent}`,
      };
    }
    const isNone = reason === 'down' || reason === 'loop' || reason === 'no-upstream';
    const extendedError = extendedErrorOfFailure(reason === 'no-upstream' ? 'down' : reason);
    const described = isNone ? 'no healthy proxies' : await this.#describe(detail, passedOnBy);
    return { kind: 'servfail', reason: described, ...(extendedError !== undefined && { extendedError }) };
  }

  /** @param detail `SERVER: CODE; SERVER: CODE`, or another text */
  async #describe(detail: string, passedOnBy: PassedOnBy): Promise<string> {
    const last = detail.split('; ').at(-1) ?? '';
    const found = [...this.#places].find(([server]) => last.startsWith(`${server}: `));
    const [text, server] = found ?? ['', [...this.#places.values()][0]];
    if (server === undefined) return detail;
    const { place } = server;
    const protocol = passedOnBy === 'only-tcp' ? 'tcp' : server.protocol;
    const code = found === undefined ? 'timeout' : last.slice(text.length + 2);
    return describeFailure({ protocol, peer: place, local: await findLocalAddress(place), code });
  }
}

/** A reply with the flags of the server. @param isAsSent whether AD stays even for clients that do not ask for it */
export function passOn(query: Query, message: Message, isAsSent: boolean): Answer {
  const { header, answers, authorities, edns } = message;
  const { recursionDesired, checkingDisabled } = header;
  // We always ask the server whether it has validated the answer, but not every client does (RFC 6840 section 5.8).
  const authenticData = header.authenticData && (isAsSent || wantsAuthenticData(query));
  const own = isAsSent ? undefined : (records: readonly ResourceRecord[]) => withNameAsAsked(query, records);
  return {
    ...messageToAnswer(message),
    authenticData,
    recursionDesired,
    checkingDisabled,
    answers: own?.(answers) ?? answers,
    authorities: own?.(authorities) ?? authorities,
    ...(edns !== undefined && query.edns !== undefined && { edns: toOwnEdns(edns) }),
    passedErrors: readPassedErrors(edns),
  };
}

/**
 * Records with the capitals of the client's name where their owner is that name, or a domain that it is in: the name was asked for in
 * lower case, so that one reply serves all clients.
 */
function withNameAsAsked(
  { question: { name: asked }, key }: Query,
  records: readonly ResourceRecord[],
): readonly ResourceRecord[] {
  if (asked === key) return records;
  return records.map((record) => {
    const { name } = record;
    if (name === ROOT || !isWithin(key, toKey(name))) return record;
    // Both are of equal length but for their capitals. What ends a name as text is a name too.
    return { ...record, name: asked.slice(-name.length) as AbsoluteName };
  });
}

function toOwnEdns({ udpSize, dnssecOk, options }: Edns): OwnEdns {
  return { udpSize, dnssecOk, options };
}

/** Whether a query asks for records. NOTIFY and questions about zones and servers do not. */
function asksForRecords({ question, header }: Query): boolean {
  const isOfRecords = question.class === CLASS.IN && (question.type < FIRST_META_TYPE || question.type > 255);
  return header.opcode === OPCODE.QUERY && isOfRecords;
}
