/**
 * The questions on a socket that have no reply yet, by their ids. Their number is bounded by that of the ids.
 */
import { HEADER_OCTETS, uint16At } from '@portolan/dns/header.ts';
import { tryDecodeMessage } from '@portolan/dns/message.ts';
import { toKey } from '@portolan/dns/name.ts';
import type { Message, Question } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { randomId } from '@portolan/kernel/forward/transport/random-ids.ts';
import type { QueryResponderReply, UnansweredReason } from './query-responder.ts';

interface Pending {
  readonly question: Question;
  readonly sentAt: number;
  readonly timer: Timer;
  readonly resolve: (reply: QueryResponderReply) => void;
}

export class PendingReplies {
  readonly #byId = new Map<number, Pending>();
  readonly #clock: Clock;
  readonly #timeout: number;

  /** @param timeout milliseconds until a question counts as not replied to */
  constructor(clock: Clock, timeout: number) {
    this.#clock = clock;
    this.#timeout = timeout;
  }

  /** Waits for the reply to a question. @param send gets the id of the query */
  wait(question: Question, send: (id: number) => void): Promise<QueryResponderReply> {
    let id = randomId();
    while (this.#byId.has(id)) id = randomId();
    return new Promise((resolve) => {
      const timer = this.#clock.after(this.#timeout, () =>
        this.#end(id, { kind: 'failed', reason: 'no reply' }),
      );
      this.#byId.set(id, { question, sentAt: this.#clock.monotonic(), timer, resolve });
      send(id);
    });
  }

  /** Ends the wait for the question that a packet replies to. All other packets are ignored. */
  receive(packet: Uint8Array): void {
    if (packet.length < HEADER_OCTETS) return;
    const id = uint16At(packet, 0);
    const pending = this.#byId.get(id);
    if (pending === undefined) return;
    const milliseconds = this.#clock.monotonic() - pending.sentAt;
    const message = tryDecodeMessage(packet);
    if (message === undefined) this.#end(id, { kind: 'failed', reason: 'malformed reply' });
    else if (isReplyTo(message, pending.question)) this.#end(id, { kind: 'replied', message, milliseconds });
  }

  failAll(reason: UnansweredReason): void {
    for (const id of [...this.#byId.keys()]) this.#end(id, { kind: 'failed', reason });
  }

  #end(id: number, reply: QueryResponderReply): void {
    const pending = this.#byId.get(id);
    if (pending === undefined) return;
    this.#byId.delete(id);
    pending.timer.cancel();
    pending.resolve(reply);
  }
}

/** A reply may leave the question out, as with FORMERR. */
function isReplyTo({ header, questions: [question] }: Message, asked: Question): boolean {
  if (!header.response) return false;
  return (
    question === undefined ||
    (question.type === asked.type &&
      question.class === asked.class &&
      toKey(question.name) === toKey(asked.name))
  );
}
