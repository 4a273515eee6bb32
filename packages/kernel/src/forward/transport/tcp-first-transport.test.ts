import { decodeMessage } from '@portolan/dns/message.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { CLASS, type Message, TYPE } from '@portolan/dns/types.ts';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import { writeReceived } from './query-message.ts';
import { TcpFirstTransport } from './tcp-first-transport.ts';
import type { ExchangeEvents, Transport } from './transport.ts';

type Behaviour = 'reply' | 'truncated' | 'silence' | 'refused';

const HEADER = {
  id: 0,
  response: false,
  opcode: 0,
  rcode: 0,
  authoritative: false,
  truncated: false,
  recursionDesired: true,
  recursionAvailable: false,
  authenticData: false,
  checkingDisabled: false,
};
const QUERY = writeReceived(
  {
    question: { name: toKey(parseName('a.example.')), type: TYPE.A, class: CLASS.IN },
    header: HEADER,
    edns: undefined,
  },
  undefined,
);

function makeReply(isTruncated: boolean): Message {
  const query = decodeMessage(QUERY.octets);
  return { ...query, header: { ...query.header, response: true, truncated: isTruncated } };
}

/** A server whose behaviour the test sets for each protocol. */
class Server {
  readonly clock = new ManualClock();
  readonly asked: string[] = [];
  readonly switches: string[] = [];
  /** Replies that a test sends later, by protocol. */
  readonly late = new Map<string, () => void>();
  tcp: Behaviour = 'reply';
  udp: Behaviour = 'reply';
  readonly transport = new TcpFirstTransport({
    tcp: this.#open('tcp'),
    udp: this.#open('udp'),
    clock: this.clock,
    onSwitch: (protocol) => this.switches.push(protocol),
  });

  /** The result of a query after a number of milliseconds, and the protocols that were used. */
  ask(milliseconds = 0): { readonly outcome: string; readonly asked: readonly string[] } {
    this.asked.length = 0;
    let outcome = 'waiting';
    this.transport.ask(QUERY, {
      replied: (reply) => {
        outcome = reply.header.truncated ? 'truncated' : 'reply';
      },
      heard() {},
      failed: (code) => {
        outcome = code;
      },
    });
    this.clock.advance(milliseconds);
    return { outcome, asked: [...this.asked] };
  }

  #open(protocol: 'tcp' | 'udp'): Transport {
    return {
      dropped: { strange: 0, otherQuestion: 0, otherCase: 0 },
      close() {},
      ask: (_query, events) => {
        this.asked.push(protocol);
        let isCancelled = false;
        const tell = (run: (to: ExchangeEvents) => void) => {
          if (!isCancelled) run(events);
        };
        const reply = (isTruncated: boolean) => events.replied(makeReply(isTruncated));
        const behaviour = this[protocol];
        if (behaviour === 'refused') tell(({ failed }) => failed('ECONNREFUSED'));
        else if (behaviour !== 'silence') tell(() => reply(behaviour === 'truncated'));
        this.late.set(protocol, () => tell(() => reply(false)));
        return {
          overdue() {},
          cancel() {
            isCancelled = true;
          },
        };
      },
    };
  }
}

describe('a server that is asked by TCP first', () => {
  it('is asked by TCP alone while that answers', () => {
    const server = new Server();
    expect(server.ask(10_000)).toEqual({ outcome: 'reply', asked: ['tcp'] });
    expect(server.switches).toEqual([]);
    expect(server.clock.pending).toBe(0);
  });

  it('is asked by UDP at once where TCP is refused, and from then on', () => {
    const server = new Server();
    server.tcp = 'refused';
    expect(server.ask()).toEqual({ outcome: 'reply', asked: ['tcp', 'udp'] });
    expect(server.switches).toEqual(['udp']);
    expect(server.ask()).toEqual({ outcome: 'reply', asked: ['udp'] });
  });

  it('is asked by UDP half a second later where TCP is silent', () => {
    const server = new Server();
    server.tcp = 'silence';
    expect(server.ask(500)).toEqual({ outcome: 'reply', asked: ['tcp', 'udp'] });
    expect(server.switches).toEqual([]);
    server.clock.advance(1000);
    expect(server.switches).toEqual(['udp']);
  });

  it('is asked by TCP again once that answers one of the tries', () => {
    const server = new Server();
    server.tcp = 'refused';
    server.ask();
    server.clock.advance(5000);
    expect(server.ask()).toEqual({ outcome: 'reply', asked: ['tcp', 'udp'] });
    server.tcp = 'reply';
    expect(server.ask()).toEqual({ outcome: 'reply', asked: ['udp'] });
    server.clock.advance(5000);
    expect(server.ask().outcome).toBe('reply');
    expect(server.switches).toEqual(['udp', 'tcp']);
    expect(server.ask()).toEqual({ outcome: 'reply', asked: ['tcp'] });
  });

  it('is not asked by UDP before that', () => {
    const server = new Server();
    server.tcp = 'silence';
    expect(server.ask(499)).toEqual({ outcome: 'waiting', asked: ['tcp'] });
  });

  it('stays with TCP where that is slow, but answers', () => {
    const server = new Server();
    server.tcp = 'silence';
    expect(server.ask(600).outcome).toBe('reply');
    server.late.get('tcp')?.();
    server.clock.advance(10_000);
    expect(server.switches).toEqual([]);
    expect(server.ask().asked).toEqual(['tcp']);
  });

  it('gives a truncated answer over UDP only where TCP brings no whole one', () => {
    const server = new Server();
    server.tcp = 'refused';
    server.udp = 'truncated';
    expect(server.ask().outcome).toBe('truncated');
    expect(server.switches).toEqual(['udp']);
    server.tcp = 'reply';
    server.clock.advance(5000);
    expect(server.ask().outcome).toBe('reply');
    expect(server.switches).toEqual(['udp', 'tcp']);
  });

  it('fails where neither protocol gets through', () => {
    const server = new Server();
    server.tcp = 'refused';
    server.udp = 'refused';
    expect(server.ask()).toEqual({ outcome: 'ECONNREFUSED', asked: ['tcp', 'udp'] });
    expect(server.switches).toEqual([]);
    server.udp = 'silence';
    expect(server.ask(10_000).outcome).toBe('waiting');
  });
});
