/**
 * A Corefile with a reader that forwards, over loopback sockets, with reader and main thread in one thread.
 */
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import type { PendingQueries } from '@portolan/kernel/forward/reader-path/pending-queries.ts';
import { ReaderForwarder } from '@portolan/kernel/forward/reader-path/reader-forwarder.ts';
import type {
  ClientPackets,
  ReaderHost,
  TakenOver,
} from '@portolan/kernel/forward/reader-path/reader-host.ts';
import { encodeSocketAddress } from '@portolan/kernel/socket/addresses.ts';
import { ENVELOPE } from '@portolan/kernel/socket/envelope.ts';
import { VERDICT } from '@portolan/kernel/table/types.ts';
import { onTestFinished } from 'vitest';
import { CLIENT, ReaderSubject, SERVER } from './reader-subject.ts';

export class ForwardingSubject extends ReaderSubject implements ReaderHost {
  /** Answers that the reader has sent. */
  answered = 0;
  /** It stands still, so that no query is overdue. */
  readonly #clock: ManualClock;
  readonly #sockets = new Set<number>();
  #forwarder: ReaderForwarder | undefined;
  /** Those of the questions asked last. */
  #responses: (Uint8Array | undefined)[] = [];

  constructor(corefile: string, clock = new ManualClock()) {
    super(corefile, clock, NOTHING_RESTORED, 1);
    this.#clock = clock;
  }

  async start(): Promise<void> {
    const { engine } = this;
    await engine.start();
    const table = { memory: engine.table.memory, reader: 0 };
    const forwarder = new ReaderForwarder(
      engine.readerPath.createReaderData(0),
      table,
      engine.reader,
      1232,
      this,
    );
    this.#forwarder = forwarder;
    onTestFinished(() => forwarder.end());
  }

  /** Asks at the same moment, first the table, then the reader, then the chain. @returns the responses */
  async askAtOnce(packets: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
    this.#responses = packets.map(() => undefined);
    const forwarder = this.#forwarder;
    forwarder?.begin(this.#clock.monotonic());
    for (const [index, packet] of packets.entries()) {
      const octets = new Uint8Array(4096 + 32);
      octets.set(packet);
      octets.set(encodeSocketAddress(CLIENT), 4096);
      const { engine } = this;
      engine.reader.setTime(this.#clock.monotonic());
      const group = engine.getListenerGroupNumber(SERVER);
      const end = engine.reader.answer(octets, 0, packet.length, 4096, 'udp', group, 4096);
      if (end !== VERDICT.ASK) this.#responses[index] = octets.slice(0, end);
      else if (forwarder?.take(makeClientPackets(octets, packet.length), 0, index) !== true)
        this.#askChain(packet, index);
    }
    forwarder?.flush();
    const step = () => this.#receive();
    await waitUntil('the responses', () => !this.#responses.includes(undefined), { step });
    this.engine.readerPath.drain();
    return this.#responses.filter((response) => response !== undefined);
  }

  /** Asks the chain only. @returns the responses */
  async askChainAtOnce(packets: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
    this.#responses = packets.map(() => undefined);
    for (const [index, packet] of packets.entries()) this.#askChain(packet, index);
    await waitUntil('the responses', () => !this.#responses.includes(undefined));
    return this.#responses.filter((response) => response !== undefined);
  }

  #askChain(packet: Uint8Array, index: number): void {
    const handle = this.engine.serverBlocks.findQueryHandler(SERVER);
    void handle?.(packet, { ...CLIENT, transport: 'udp' }).then((response) => {
      this.#responses[index] = response;
    });
  }

  #receive(): void {
    const now = this.#clock.monotonic();
    this.#forwarder?.begin(now);
    for (const socket of [...this.#sockets]) this.#forwarder?.receive(socket);
    this.#forwarder?.expire(now);
    this.engine.readerPath.drain();
  }

  respond(pending: PendingQueries, client: number, response: Uint8Array, length: number): void {
    this.answered += 1;
    this.#responses[pending.clientSocket[client] ?? 0] = response.slice(0, length);
  }

  handOver(pending: PendingQueries, client: number, about: TakenOver): void {
    const start = pending.queryStartAt(client);
    const packet = pending.octets.slice(start, start + (pending.length[client] ?? 0));
    const octets = { octets: packet, view: new DataView(packet.buffer), start: 0, length: packet.length };
    this.engine.readerPath.takeOver(0, octets, about);
    this.#askChain(packet, pending.clientSocket[client] ?? 0);
  }

  handOverReply(ticket: number, isCut: boolean, packet: Uint8Array, start: number, length: number): void {
    this.engine.readerPath.takeReply(0, ticket, isCut, packet.slice(), start, length);
  }

  handOverFailure(ticket: number, errno: number): void {
    this.engine.readerPath.takeFailure(0, ticket, errno);
  }

  wake(): void {}

  watch(socket: number): boolean {
    this.#sockets.add(socket);
    return true;
  }

  unwatch(socket: number): void {
    this.#sockets.delete(socket);
  }

  receivePolicy(): undefined {}
}

function makeClientPackets(octets: Uint8Array, length: number): ClientPackets {
  const address = encodeSocketAddress(CLIENT);
  return {
    octets,
    startAt: () => 0,
    lengthAt: () => length,
    writeEnvelope(_, target, at) {
      target.fill(0, at, at + ENVELOPE.OCTETS);
      target.set(address, at);
      target[at + ENVELOPE.NAME_LENGTH] = address.length;
    },
  };
}
