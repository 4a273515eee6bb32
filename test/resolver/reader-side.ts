/**
 * A resolver whose reader forwards plain questions itself, over loopback sockets, with reader and main thread in one thread.
 */
import type { PendingQueries } from '@portolan/kernel/forward/reader-path/pending-queries.ts';
import { ReaderForwarder } from '@portolan/kernel/forward/reader-path/reader-forwarder.ts';
import type {
  ClientPackets,
  ReaderHost,
  TakenOver,
} from '@portolan/kernel/forward/reader-path/reader-host.ts';
import type { ReaderPath } from '@portolan/kernel/forward/reader-path/reader-path.ts';
import type { QueryMessage } from '@portolan/kernel/forward/transport/query-message.ts';
import type { DirectServer, ExchangeEvents } from '@portolan/kernel/forward/transport/transport.ts';
import {
  decodeSocketAddress,
  encodeSocketAddress,
  SOCKADDR_IN_OCTETS,
  type SocketAddress,
} from '@portolan/kernel/socket/addresses.ts';
import { PacketBatch } from '@portolan/kernel/socket/batch.ts';
import { closeDescriptor } from '@portolan/kernel/socket/descriptor.ts';
import { ENVELOPE, readClient } from '@portolan/kernel/socket/envelope.ts';
import { libc } from '@portolan/kernel/socket/libc.ts';
import { MSG_DONTWAIT } from '@portolan/kernel/socket/linux.ts';
import { ReplySender } from '@portolan/kernel/socket/reply.ts';
import { openUdpSocket } from '@portolan/kernel/socket/udp-socket.ts';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import { DEFAULT_VIEW, DEFAULT_VIEW_SETTINGS, VERDICT } from '@portolan/kernel/table/types.ts';
import type { CachedResolverSettings } from './cached-resolver.ts';
import { RawUpstream } from './raw-upstream.ts';
import { CLIENT, ResolverSide } from './resolver-side.ts';

/** A server that the reader asks over loopback, and the main thread as a `RawUpstream`. */
class SocketUpstream extends RawUpstream {
  readonly direct: DirectServer;
  readonly #socket = openUdpSocket({ address: '127.0.0.1', port: 0 }, 1);
  readonly #batch = new PacketBatch(512);
  readonly #sender = new ReplySender();
  #envelope = new Uint8Array(ENVELOPE.OCTETS);
  /** Where each query came from; undefined: from the main thread. */
  readonly #senders = new WeakMap<Uint8Array, Uint8Array<ArrayBuffer>>();
  /** The port that the last query came from; 0: it came from the main thread. */
  port = 0;

  constructor() {
    super();
    const takeOver = (_: QueryMessage, events: ExchangeEvents) => ({
      overdue() {},
      cancel() {},
      replied: (...reply: Parameters<ExchangeEvents['replied']>) => events.replied(...reply),
      failed: (code: string) => events.failed(code),
    });
    this.direct = { peer: this.#socket.endpoint, stream: undefined, takeOver };
  }

  override ask(...args: Parameters<RawUpstream['ask']>) {
    this.port = 0;
    return super.ask(...args);
  }

  /** Receives the packets of the socket. */
  listen(): void {
    const { octets } = this.#batch;
    const count = this.#batch.receive(this.#socket.fd, MSG_DONTWAIT);
    for (let index = 0; index < count; index += 1) {
      const start = this.#batch.startAt(index);
      const packet = octets.slice(start, start + this.#batch.lengthAt(index));
      this.packets.push(packet);
      this.#envelope = new Uint8Array(ENVELOPE.OCTETS);
      this.#batch.writeEnvelope(index, this.#envelope, 0);
      this.#senders.set(packet, this.#envelope);
      this.port = readClient(this.#envelope).port;
    }
  }

  /** What is sent next goes to the sender of this query. */
  turnTo(query: Uint8Array): void {
    const sender = this.#senders.get(query);
    if (sender !== undefined) this.#envelope = sender;
    this.port = sender === undefined ? 0 : readClient(sender).port;
  }

  send(packet: Uint8Array): void {
    this.#sender.send(this.#socket.fd, this.#envelope, packet);
  }

  override close(): void {
    closeDescriptor(this.#socket.fd);
  }
}

export class ReaderSide extends ResolverSide implements ReaderHost {
  /** Questions that the reader has answered. */
  answered = 0;
  /** Queries that the network has refused. */
  failed = 0;
  readonly #upstream: SocketUpstream;
  readonly #path: ReaderPath;
  readonly #table: TableReader;
  readonly #forwarder: ReaderForwarder;
  /** The ports of the reader's sockets. */
  readonly #ports = new Map<number, number>();
  /** The place of the response to each query. */
  readonly #responsePlaceByQuery = new Map<Uint8Array, number>();

  constructor(settings: CachedResolverSettings) {
    const upstream = new SocketUpstream();
    super(settings, upstream);
    this.#upstream = upstream;
    this.#path = this.resolver.readerPath;
    const route = this.resolver.openRoute();
    this.table.changeView(DEFAULT_VIEW, { ...DEFAULT_VIEW_SETTINGS, route });
    const { memory } = this.table;
    this.#table = new TableReader(memory, 0);
    this.#forwarder = new ReaderForwarder(
      this.#path.createReaderData(0),
      { memory, reader: 0 },
      this.#table,
      1232,
      this,
    );
  }

  /** Queries of one moment go to the table, from there to the forwarding reader, and from there to the main thread. */
  askReader(...packets: readonly Uint8Array[]): void {
    this.#table.enter();
    this.#forwarder.begin(this.clock.monotonic());
    const left = packets.filter((packet) => !this.#take(packet));
    this.#forwarder.flush();
    this.#table.leave();
    this.#upstream.listen();
    for (const packet of left) this.askHandlers(packet, this.#responsePlaceByQuery.get(packet));
  }

  #take(packet: Uint8Array): boolean {
    const index = this.responses.push(undefined) - 1;
    this.#responsePlaceByQuery.set(packet, index);
    const copy = new Uint8Array(1232);
    copy.set(packet);
    const verdict = this.#table.answer(copy, 0, packet.length, copy.length, 'udp');
    // The socket says which response it is.
    return verdict === VERDICT.ASK && this.#forwarder.take(makeClientPackets(packet), 0, index);
  }

  /** Receives the packets of the sockets of the reader. */
  receiveAll(): void {
    this.#forwarder.begin(this.clock.monotonic());
    for (const socket of [...this.#ports.keys()]) this.#forwarder.receive(socket);
    this.#path.drain();
  }

  override hear(packet: Uint8Array, query: Uint8Array): void {
    this.#upstream.turnTo(query);
    this.receive(packet);
  }

  protected override receive(packet: Uint8Array): void {
    // To a port that is closed by now it comes as an unsolicited one, as on the main thread.
    if (![...this.#ports.values()].includes(this.#upstream.port)) {
      super.receive(packet);
      return;
    }
    this.#upstream.send(packet);
    this.receiveAll();
  }

  protected override tick(): void {
    this.#forwarder.expire(this.clock.monotonic());
    this.#path.drain();
  }

  respond(pending: PendingQueries, client: number, response: Uint8Array, length: number): void {
    this.answered += 1;
    this.responses[pending.clientSocket[client] ?? 0] = response.slice(0, length);
  }

  handOver(pending: PendingQueries, client: number, about: TakenOver): void {
    const start = pending.queryStartAt(client);
    const packet = pending.octets.slice(start, start + (pending.length[client] ?? 0));
    const octets = { octets: packet, view: new DataView(packet.buffer), start: 0, length: packet.length };
    this.#path.takeOver(0, octets, about);
    this.askHandlers(packet, pending.clientSocket[client]);
  }

  handOverReply(ticket: number, isCut: boolean, packet: Uint8Array, start: number, length: number): void {
    this.#path.takeReply(0, ticket, isCut, packet.slice(), start, length);
  }

  handOverFailure(ticket: number, errno: number): void {
    this.failed += 1;
    this.#path.takeFailure(0, ticket, errno);
  }

  wake(): void {}

  watch(socket: number, fd: number): boolean {
    const address = new Uint8Array(SOCKADDR_IN_OCTETS);
    libc().getsockname(fd, address, Uint32Array.of(address.length));
    this.#ports.set(socket, decodeSocketAddress(address).port);
    return true;
  }

  unwatch(socket: number): void {
    this.#ports.delete(socket);
  }

  receivePolicy(): undefined {}

  close(): void {
    this.resolver.stop();
    this.#upstream.close();
  }
}

const CLIENT_ADDRESS: SocketAddress = CLIENT;

function makeClientPackets(packet: Uint8Array): ClientPackets {
  const address = encodeSocketAddress(CLIENT_ADDRESS);
  return {
    octets: packet,
    startAt: () => 0,
    lengthAt: () => packet.length,
    writeEnvelope(_, target, at) {
      target.fill(0, at, at + ENVELOPE.OCTETS);
      target.set(address, at);
      target[at + ENVELOPE.NAME_LENGTH] = address.length;
    },
  };
}
