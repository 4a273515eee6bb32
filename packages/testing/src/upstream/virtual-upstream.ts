/**
 * An upstream server in virtual time, without any network traffic: its time is that of a clock.
 */
import { decodeMessage } from '@portolan/dns/message.ts';
import { type Message, TYPE } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { QueryMessage } from '@portolan/kernel/forward/transport/query-message.ts';
import type { Exchange, ExchangeEvents, Transport } from '@portolan/kernel/forward/transport/transport.ts';
import { type React, ReceivedQuery } from './received-query.ts';

export class VirtualUpstream implements Transport {
  readonly dropped = { strange: 0, otherQuestion: 0, otherCase: 0 };
  react: React;
  /** Queries that came, and how many of them are the forwarder's tests of a server. */
  count = 0;
  probes = 0;
  isClosed = false;
  readonly #clock: Clock;

  constructor(clock: Clock, react: React) {
    this.#clock = clock;
    this.react = react;
  }

  ask({ octets }: QueryMessage, events: ExchangeEvents): Exchange {
    const timers: Timer[] = [];
    let isOver = false;
    const end = (settle: () => void) => {
      if (!isOver) settle();
      isOver = true;
    };
    const received = new ReceivedQuery(octets, {
      over: 'udp',
      port: 0,
      connection: undefined,
      send: (reply) => end(() => events.replied(toMessage(reply))),
      after: (milliseconds, run) => void timers.push(this.#clock.after(milliseconds, run)),
      cut: () => end(() => events.failed('ECONNREFUSED')),
    }).decode();
    this.count += 1;
    if (isProbe(received.query)) this.probes += 1;
    this.react(received);
    const cancel = () => {
      isOver = true;
      for (const timer of timers) timer.cancel();
    };
    return { overdue() {}, cancel };
  }

  /** Queries without the tests of a server. */
  get asked(): number {
    return this.count - this.probes;
  }

  close(): void {
    this.isClosed = true;
  }
}

function toMessage(reply: Message | Uint8Array): Message {
  return reply instanceof Uint8Array ? decodeMessage(reply) : reply;
}

function isProbe({ questions: [question] }: Message): boolean {
  return question !== undefined && (question.type === TYPE.NS || /^[0-9a-f]{32}\./.test(question.name));
}
