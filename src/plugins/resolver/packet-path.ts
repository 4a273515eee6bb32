/**
 * The packet path: answers questions for addresses of names that must be forwarded, from octets to octets, without decoding a
 * message.
 *
 * It uses the same `Forwarder` as the handler chain, with the same bounds, choice of servers, retries and health. Only the two ends
 * are different: the packet path reads a question once, in place, and copies a raw reply to the cache and to clients.
 * The handler chain does the rest: it takes other questions, and its functions process other replies.
 */

import type { Clock } from '../../base/clock.ts';
import type { PendingQuery } from '../../chain/pending-query.ts';
import { Query } from '../../chain/query.ts';
import { explainResponse, replyOf } from '../../chain/response.ts';
import {
  type Forwarder,
  keepReply,
  type LentReply,
  type QuestionKey,
  type ReplyWaiter,
} from '../../forward/forwarder.ts';
import type { RawReply } from '../../forward/transport/raw-reply.ts';
import { PARSED, QuestionReader } from '../../table/question.ts';
import type { TableWriter } from '../../table/writer.ts';
import { encodeMessage } from '../../wire/message.ts';
import { plainKey } from '../../wire/name-wire.ts';
import { parseQuery, respond } from '../../wire/query.ts';
import { DEFAULT_UDP_SIZE, maxResponseOctets } from '../../wire/response-size.ts';
import { CLASS, type NameKey, RCODE, TYPE } from '../../wire/types.ts';
import type { OwnAnswers } from '../cache/own-answers.ts';
import { RawResponses, type WaitingQuery } from '../cache/raw-replies.ts';
import type { Forwarding } from './forwarding.ts';

/** The parts of a resolver that the packet path uses. */
export interface ResolverParts {
  readonly forwarder: Forwarder;
  readonly forwarding: Forwarding;
  readonly cache: OwnAnswers;
  readonly table: Pick<TableWriter, 'cache' | 'cacheEncoded' | 'dropCached' | 'hasCached'>;
  readonly clock: Clock;
  /** Whether the settings leave raw replies as they are. May change. */
  readonly isUsable: () => boolean;
}

export interface PacketForwardingOptions {
  /** Whether no handler before the resolver answers a question for addresses of a name. */
  readonly isExternal: (name: NameKey, type: number) => boolean;
  /** Whether a handler before the resolver reads EDNS options. Default: no. May change. */
  readonly readsOptions?: () => boolean;
  /** Maximum size of UDP responses in octets, also sent in our OPT records. Default: 1232. */
  readonly udpSize?: number;
  /** Whether responses carry extended errors of our own. Default: no. */
  readonly sendsExtendedErrors?: boolean | undefined;
  /** Called with each response (memory that begins with it, and its length) and the time that it took. */
  readonly onAnswer: (response: Uint8Array, length: number, milliseconds: number) => void;
}

/** In the third octet of a query: QR, the opcode and TC are clear, RD is set. AA is ignored. */
const FLAGS = 0xfb;
const RECURSION_DESIRED = 0x01;

export class PacketForwarding {
  readonly #parts: ResolverParts;
  readonly #options: PacketForwardingOptions;
  readonly #udpSize: number;
  readonly #reader = new QuestionReader();
  readonly #raw: RawResponses;

  constructor(parts: ResolverParts, options: PacketForwardingOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#udpSize = options.udpSize ?? DEFAULT_UDP_SIZE;
    this.#raw = new RawResponses(parts.table, parts.clock, this.#udpSize);
  }

  /** @returns whether it takes the question; the answer may come before this returns */
  ask(pending: PendingQuery): boolean {
    const { forwarder, cache, table, clock, isUsable } = this.#parts;
    const reader = this.#reader;
    if (!isUsable() || !this.#read(pending)) return false;
    if (reader.hasOptions && this.#options.readsOptions?.() === true) return false;
    const { type, dnsClass, dnssecOk, checkingDisabled } = reader;
    const key = plainKey(reader.name);
    if (key === undefined || !this.#options.isExternal(key, type)) return false;
    const name = reader.wireName();
    // Cached answers, expired or not, are left to the handlers.
    if (table.hasCached({ name, type, class: dnsClass, dnssecOk, checkingDisabled })) return false;
    // Written out, since it is made for every question and spreading objects takes time.
    const question: QuestionKey = {
      name: key,
      type,
      class: dnsClass,
      dnssecOk,
      checkingDisabled,
      recursionDesired: true,
    };
    const waiter = new Waiter(pending, question, reader, cache.generation, clock.monotonic(), this);
    if (!forwarder.ask(question, { address: pending.client }, waiter)) return false;
    cache.noteMisses(1);
    return true;
  }

  /** Answers a waiting client. */
  complete(waiter: Waiter, lent: LentReply): void {
    const { generation } = waiter;
    const { forwarding, cache, isUsable } = this.#parts;
    if (
      lent.kind === 'reply' &&
      lent.reply.kind === 'raw' &&
      isUsable() &&
      this.#isTrue(waiter, lent.reply)
    ) {
      const isCurrent = cache.generation === generation;
      const length = this.#raw.answer(waiter, lent.reply, cache.rules.caching, isCurrent);
      if (length > 0) {
        forwarding.observe(lent.milliseconds);
        this.#respond(waiter, this.#raw.octets, length);
        return;
      }
    }
    this.#completeByHandlers(waiter, lent);
  }

  /** False if the name may be known here although upstream servers deny it. */
  #isTrue({ question }: Waiter, { rcode }: RawReply): boolean {
    return rcode !== RCODE.NXDOMAIN || this.#parts.forwarding.settings.mayExist?.(question.name) !== true;
  }

  /** Completes the query with the functions of the handlers. */
  #completeByHandlers(waiter: Waiter, lent: LentReply): void {
    const { pending, question, generation } = waiter;
    const { forwarding, cache } = this.#parts;
    const { octets, start, length, client } = pending;
    const parsed = parseQuery(octets.slice(start, start + length));
    // If no server is left to ask, other handlers may answer.
    const hasNoServer =
      lent.kind === 'failed' && (lent.reason === 'no-upstream' || lent.reason === 'local-only');
    if (parsed.kind !== 'query' || hasNoServer) {
      pending.handOver();
      return;
    }
    const answer = forwarding.present(question, keepReply(lent));
    const query = new Query(parsed.question, parsed, { address: client, port: 0, transport: 'udp' });
    cache.keep(query, answer, generation);
    const udpSize = this.#udpSize;
    const message = respond(parsed, { ...replyOf(answer), recursionAvailable: true, udpSize });
    const limit = maxResponseOctets('udp', parsed.edns?.udpSize ?? 0, udpSize);
    const encoded = encodeMessage(message, { limit });
    const sending = { options: [], sendsOwn: this.#options.sendsExtendedErrors === true };
    const response = parsed.edns === undefined ? encoded : explainResponse(encoded, limit, answer, sending);
    this.#respond(waiter, response, response.length);
  }

  #respond({ pending, came }: Waiter, response: Uint8Array, length: number): void {
    this.#options.onAnswer(response, length, this.#parts.clock.monotonic() - came);
    pending.respond(response, length);
  }

  /** Reads a question for addresses, of the plain shape. */
  #read({ octets, view, start, length }: PendingQuery): boolean {
    if (((octets[start + 2] ?? 0) & FLAGS) !== RECURSION_DESIRED) return false;
    if (octets[start + 4] !== 0 || octets[start + 5] !== 1) return false;
    const reader = this.#reader;
    if (reader.parse(octets, view, start, length) !== PARSED.QUESTION) return false;
    return reader.dnsClass === CLASS.IN && (reader.type === TYPE.A || reader.type === TYPE.AAAA);
  }
}

class Waiter implements ReplyWaiter, WaitingQuery {
  readonly pending: PendingQuery;
  readonly question: QuestionKey;
  readonly octets: Uint8Array;
  readonly start: number;
  readonly questionEnd: number;
  readonly hasOpt: boolean;
  readonly udpSize: number;
  /** The generation when the question came. */
  readonly generation: number;
  /** Milliseconds of the monotonic clock. */
  readonly came: number;
  readonly #answers: PacketForwarding;

  constructor(
    pending: PendingQuery,
    question: QuestionKey,
    reader: QuestionReader,
    generation: number,
    came: number,
    answers: PacketForwarding,
  ) {
    this.pending = pending;
    this.question = question;
    this.octets = pending.octets;
    this.start = pending.start;
    this.questionEnd = reader.end - pending.start;
    this.hasOpt = reader.hasOpt;
    this.udpSize = reader.udpSize;
    this.generation = generation;
    this.came = came;
    this.#answers = answers;
  }

  completed(reply: LentReply): void {
    try {
      this.#answers.complete(this, reply);
    } catch (error) {
      this.pending.fail(error);
    }
  }
}
