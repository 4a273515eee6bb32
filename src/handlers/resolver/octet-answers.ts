/**
 * The packet path: questions for addresses of names that others must be asked for, from the client's octets to the client's
 * answer without taking a message apart.
 *
 * It is one more way through the same `Forwarder`, with the same bounds, choice of servers, retries and health. Only the two ends
 * are different: here a question is read where it lies, and a plain reply is copied to the cache and to those who wait. Whatever
 * is not plain goes the way of the handlers: a question before it is asked, a reply by the very functions that they use.
 */
import type { Asker } from '../../chain/asker.ts';
import { Query } from '../../chain/query.ts';
import { replyOf } from '../../chain/response.ts';
import type { FlightQuestion, Forwarder, ForwardReply, ReplyWaiter } from '../../forward/forwarder.ts';
import { keepMessage, PlainReply } from '../../forward/transport/plain-reply.ts';
import type { Clock } from '../../ground/clock.ts';
import { PARSED, QuestionReader } from '../../table/question.ts';
import type { TableWriter } from '../../table/writer.ts';
import { encodeMessage } from '../../wire/message.ts';
import { plainKey } from '../../wire/name-wire.ts';
import { DEFAULT_UDP_SIZE, parseQuery, respond, udpLimit } from '../../wire/query.ts';
import { CLASS, type NameKey, RCODE, TYPE } from '../../wire/types.ts';
import type { Forwarding } from './forwarding.ts';
import { PlainAnswers } from './plain-answers.ts';
import type { Remembering } from './remembering.ts';

/** What of a resolver it works with. */
export interface ResolverParts {
  readonly forwarder: Forwarder;
  readonly forwarding: Forwarding;
  readonly remembering: Remembering;
  readonly table: Pick<TableWriter, 'cache' | 'hasCached'>;
  readonly clock: Clock;
  /** Whether what is done to replies leaves plain ones as they are. May change. */
  readonly isUsable: () => boolean;
}

export interface OctetAnswersOptions {
  /** Whether nobody before the resolver has anything to say of a question for addresses of a name. */
  readonly isOutside: (name: NameKey, type: number) => boolean;
  /** What our OPT records say, and UDP responses may have at most, in octets. Default: 1232. */
  readonly udpSize?: number;
  /** Told of each response, which its memory begins with, and of how long it took. */
  readonly onAnswer: (response: Uint8Array, length: number, milliseconds: number) => void;
}

/** In the third octet of a query: QR, the opcode and TC are clear, RD is set. AA means nothing. */
const FLAGS = 0xfb;
const RECURSION_DESIRED = 0x01;

export class OctetAnswers {
  readonly #parts: ResolverParts;
  readonly #options: OctetAnswersOptions;
  readonly #udpSize: number;
  readonly #reader = new QuestionReader(0);
  readonly #plain: PlainAnswers;

  constructor(parts: ResolverParts, options: OctetAnswersOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#udpSize = options.udpSize ?? DEFAULT_UDP_SIZE;
    this.#plain = new PlainAnswers(parts.table, parts.clock, this.#udpSize);
  }

  /** @returns whether it takes the question; the answer may come before this returns */
  ask(asker: Asker): boolean {
    const { forwarder, remembering, table, clock, isUsable } = this.#parts;
    const reader = this.#reader;
    if (!isUsable() || !this.#read(asker)) return false;
    const { type, dnsClass, dnssecOk, checkingDisabled } = reader;
    const key = plainKey(reader.name);
    if (key === undefined || !this.#options.isOutside(key, type)) return false;
    const name = reader.wireName();
    // What is cached, expired or not, is for the handlers to judge.
    if (table.hasCached({ name, type, class: dnsClass, dnssecOk, checkingDisabled })) return false;
    // Made for every question: written out, since spreading objects takes its time.
    const question: FlightQuestion = {
      name: key,
      type,
      class: dnsClass,
      dnssecOk,
      checkingDisabled,
      recursionDesired: true,
    };
    const waiter = new Waiter(asker, question, remembering.generation, clock.monotonic(), this);
    if (!forwarder.ask(question, { address: asker.client }, waiter)) return false;
    remembering.noteMiss();
    return true;
  }

  /** Answers one who waits. */
  land(waiter: Waiter, reply: ForwardReply): void {
    const { asker, generation } = waiter;
    const { forwarding, remembering, isUsable } = this.#parts;
    if (
      reply.kind === 'reply' &&
      reply.message instanceof PlainReply &&
      isUsable() &&
      this.#isTrue(waiter, reply.message)
    ) {
      const isCurrent = remembering.generation === generation;
      const length = this.#plain.answer(asker, reply.message, forwarding.terms, isCurrent);
      if (length > 0) {
        forwarding.observe(reply.milliseconds);
        this.#respond(waiter, this.#plain.octets, length);
        return;
      }
    }
    this.#landSlowly(waiter, reply);
  }

  /** A name may be known here of which others say that it does not exist. */
  #isTrue({ question }: Waiter, { rcode }: PlainReply): boolean {
    return rcode !== RCODE.NXDOMAIN || this.#parts.forwarding.terms.mayExist?.(question.name) !== true;
  }

  /** As the handlers would, with their own functions. */
  #landSlowly(waiter: Waiter, reply: ForwardReply): void {
    const { asker, question, generation } = waiter;
    const { forwarding, remembering } = this.#parts;
    const { octets, start, length, client } = asker;
    const parsed = parseQuery(octets.slice(start, start + length));
    // Where there is nobody to ask any more, other handlers have a say.
    const isNobodys =
      reply.kind === 'failed' && (reply.reason === 'no-upstream' || reply.reason === 'local-only');
    if (parsed.kind !== 'query' || isNobodys) {
      asker.handOver();
      return;
    }
    const whole = reply.kind === 'failed' ? reply : { ...reply, message: keepMessage(reply.message) };
    const answer = forwarding.present(question, whole);
    const query = new Query(parsed.question, parsed, { address: client, port: 0, transport: 'udp' });
    remembering.keep(query, answer, generation);
    const udpSize = this.#udpSize;
    const message = respond(parsed, { ...replyOf(answer), recursionAvailable: true, udpSize });
    const response = encodeMessage(message, { limit: udpLimit(parsed.edns, udpSize) });
    this.#respond(waiter, response, response.length);
  }

  #respond({ asker, came }: Waiter, response: Uint8Array, length: number): void {
    this.#options.onAnswer(response, length, this.#parts.clock.monotonic() - came);
    asker.respond(response, length);
  }

  /** Reads a question for addresses, of the plain shape. */
  #read({ octets, view, start, length }: Asker): boolean {
    if (((octets[start + 2] ?? 0) & FLAGS) !== RECURSION_DESIRED) return false;
    if (octets[start + 4] !== 0 || octets[start + 5] !== 1) return false;
    const reader = this.#reader;
    if (reader.parse(octets, view, start, length) !== PARSED.PLAIN) return false;
    return reader.dnsClass === CLASS.IN && (reader.type === TYPE.A || reader.type === TYPE.AAAA);
  }
}

class Waiter implements ReplyWaiter {
  readonly asker: Asker;
  readonly question: FlightQuestion;
  /** Of what answers are made from, when the question came. */
  readonly generation: number;
  /** Of the clock's monotonic time. */
  readonly came: number;
  readonly #answers: OctetAnswers;

  constructor(
    asker: Asker,
    question: FlightQuestion,
    generation: number,
    came: number,
    answers: OctetAnswers,
  ) {
    this.asker = asker;
    this.question = question;
    this.generation = generation;
    this.came = came;
    this.#answers = answers;
  }

  landed(reply: ForwardReply): void {
    try {
      this.#answers.land(this, reply);
    } catch (error) {
      this.asker.fail(error);
    }
  }
}
