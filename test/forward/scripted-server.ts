/**
 * Upstream servers made of a clock and a script: the reply to a query, and its delay in milliseconds of virtual time.
 */
import { decodeMessage } from '@portolan/dns/message.ts';
import { type Message, type Question, TYPE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { QueryMessage } from '@portolan/kernel/forward/transport/query-message.ts';
import type { Exchange, ExchangeEvents, Transport } from '@portolan/kernel/forward/transport/transport.ts';

export type Behaviour =
  | { readonly kind: 'silent' }
  | { readonly kind: 'answers'; readonly rcode: number; readonly after: number }
  /** Answers every so-many-th query only. */
  | { readonly kind: 'loses'; readonly but: number; readonly after: number }
  /** Loses a part of the queries, and the same part of the replies, by chance. */
  | { readonly kind: 'lossy'; readonly loss: number; readonly random: () => number; readonly after: number }
  /**
   * Answers so many queries a second, one after the other. It stops for a while at `stallAt`; a query that finds its queue full
   * is lost.
   */
  | {
      readonly kind: 'busy';
      readonly perSecond: number;
      readonly queue: number;
      readonly stallAt: number;
      readonly stallFor: number;
    }
  /** Answers names that begin with `slow` after `slowAfter`, all others after `after`. */
  | { readonly kind: 'uneven'; readonly after: number; readonly slowAfter: number }
  | { readonly kind: 'unreachable'; readonly code: string }
  /** Sends each query back to us. */
  | { readonly kind: 'loops'; readonly after: number }
  /** Knows no EDNS: FORMERR to queries with OPT. */
  | { readonly kind: 'old'; readonly after: number }
  /** Drops queries with OPT. */
  | { readonly kind: 'deaf'; readonly after: number }
  | { readonly kind: 'truncates'; readonly after: number };

const NO_EXCHANGE: Exchange = { overdue() {}, cancel() {} };

export class ScriptedServer implements Transport {
  readonly dropped = { strange: 0, otherQuestion: 0, otherCase: 0 };
  behaviour: Behaviour;
  /** Queries that were sent to it, probes left out; and those. */
  asked = 0;
  probed = 0;
  isClosed = false;
  /** What hears of a query that it sends back. */
  onLoop: (question: Question) => void = () => {};
  readonly #clock: Clock;
  #freeAt = 0;
  #queued = 0;

  constructor(clock: Clock, behaviour: Behaviour = { kind: 'silent' }) {
    this.#clock = clock;
    this.behaviour = behaviour;
  }

  ask({ octets, hasEdns }: QueryMessage, events: ExchangeEvents): Exchange {
    const query = decodeMessage(octets);
    const question = query.questions[0];
    if (question === undefined) throw new Error('a query without a question');
    if (isProbe(question)) this.probed += 1;
    else this.asked += 1;
    return this.#react(query, question, hasEdns, events);
  }

  #react(query: Message, question: Question, hasEdns: boolean, events: ExchangeEvents): Exchange {
    const { behaviour } = this;
    const later = (milliseconds: number, run: () => void): Exchange => {
      const timer = this.#clock.after(milliseconds, run);
      return { overdue() {}, cancel: () => timer.cancel() };
    };
    switch (behaviour.kind) {
      case 'silent':
        return NO_EXCHANGE;
      case 'answers':
        return later(behaviour.after, () => reply(events, replyTo(query, behaviour.rcode)));
      case 'loses':
        if ((this.asked + this.probed) % behaviour.but !== 0) return NO_EXCHANGE;
        return later(behaviour.after, () => reply(events, replyTo(query, 0)));
      case 'lossy':
        if (behaviour.random() < behaviour.loss || behaviour.random() < behaviour.loss) return NO_EXCHANGE;
        return later(behaviour.after, () => reply(events, replyTo(query, 0)));
      case 'busy':
        return this.#serveInTurn(query, behaviour, later, events);
      case 'uneven':
        return later(question.name.startsWith('slow') ? behaviour.slowAfter : behaviour.after, () =>
          reply(events, replyTo(query, 0)),
        );
      case 'unreachable':
        events.failed(behaviour.code);
        return NO_EXCHANGE;
      case 'loops':
        return later(behaviour.after, () => this.onLoop(question));
      case 'old':
        return later(behaviour.after, () =>
          reply(events, { ...replyTo(query, hasEdns ? 1 : 0), edns: undefined }),
        );
      case 'deaf':
        if (hasEdns) return NO_EXCHANGE;
        return later(behaviour.after, () => reply(events, { ...replyTo(query, 0), edns: undefined }));
      case 'truncates': {
        const whole = replyTo(query, 0);
        const header = { ...whole.header, truncated: true };
        return later(behaviour.after, () => reply(events, { ...whole, header, answers: [] }));
      }
    }
  }

  #serveInTurn(
    query: Message,
    { perSecond, queue, stallAt, stallFor }: Extract<Behaviour, { readonly kind: 'busy' }>,
    later: (milliseconds: number, run: () => void) => Exchange,
    events: ExchangeEvents,
  ): Exchange {
    const now = this.#clock.monotonic();
    const isStalled = now >= stallAt && now < stallAt + stallFor;
    const begin = Math.max(now, this.#freeAt, isStalled ? stallAt + stallFor : 0);
    const isFull = this.#queued >= queue;
    if (isFull) return NO_EXCHANGE;
    this.#freeAt = begin + 1000 / perSecond;
    this.#queued += 1;
    // Cancelled or not, the server does its work.
    this.#clock.after(this.#freeAt - now, () => {
      this.#queued -= 1;
    });
    return later(this.#freeAt - now, () => reply(events, replyTo(query, 0)));
  }

  close(): void {
    this.isClosed = true;
  }
}

function isProbe({ name, type }: Question): boolean {
  return type === TYPE.NS || /^[0-9a-f]{32}\./.test(name);
}

function reply(events: ExchangeEvents, message: Message): void {
  events.replied(message);
}

function replyTo(query: Message, rcode: number): Message {
  const name = query.questions[0]?.name;
  const header = { ...query.header, response: true, recursionAvailable: true, rcode };
  const data = { kind: 'A', address: '192.0.2.1' } as const;
  return {
    ...query,
    header,
    answers: rcode === 0 && name !== undefined ? [{ name, class: 1, ttl: 60, data }] : [],
  };
}
