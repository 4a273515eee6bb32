/**
 * An upstream server whose replies the test gives as octets. Its packets are checked like those of a socket.
 */
import { Outstanding, type OutstandingQuery } from '@portolan/kernel/forward/transport/outstanding.ts';
import type { QueryMessage } from '@portolan/kernel/forward/transport/query-message.ts';
import type { Exchange, ExchangeEvents, Transport } from '@portolan/kernel/forward/transport/transport.ts';

export class RawUpstream implements Transport {
  readonly dropped = { strange: 0, otherQuestion: 0, otherCase: 0 };
  /** Queries as they left, the last one last. */
  readonly packets: Uint8Array[] = [];
  readonly #outstanding = new Outstanding(this.dropped);

  ask(query: QueryMessage, events: ExchangeEvents): Exchange {
    const entry: OutstandingQuery = { query, events, id: 0 };
    const packet = this.#outstanding.add(entry);
    if (packet !== undefined) this.packets.push(packet);
    return { overdue() {}, cancel: () => this.#outstanding.remove(entry) };
  }

  /** A packet that stands inside a larger memory, which is used for something else afterwards. */
  receive(packet: Uint8Array): void {
    const memory = Uint8Array.of(1, 2, 3, ...packet, 4, 5);
    this.#outstanding.receive(memory, 3, packet.length, false);
    memory.fill(0xee);
  }

  close(): void {}
}
