/**
 * UDP by batches: opens the sockets, starts the readers, gets slow questions answered, and stops without loss.
 *
 * Every reader has its own socket per address, and `PacketSteering` decides which readers get packets. A reader that
 * starts later opens its sockets only then, so that every socket of a port group has a thread.
 */
import { type Clock, within } from '../base/clock.ts';
import { describeDefect } from '../base/describe-error.ts';
import { formatSocketAddress } from '../base/socket-address.ts';
import type { SocketAddress } from '../socket/addresses.ts';
import { PacketBatch } from '../socket/batch.ts';
import { type BoundSocket, closeDescriptor } from '../socket/descriptor.ts';
import { MSG_DONTWAIT } from '../socket/linux.ts';
import { PortInUseError } from '../socket/socket-error.ts';
import {
  countKernelDrops,
  leavePortGroup,
  openUdpSocket,
  probeUdpPort,
  rejoinPortGroup,
} from '../socket/udp-socket.ts';
import type { AnswerLarge } from './large-answers.ts';
import { DROPPED, openDrops } from './listener-drops.ts';
import { PacketSteering } from './packet-steering.ts';
import { ProxiedPackets } from './proxy-protocol/proxied-packets.ts';
import { DEFAULT_QUERY_TIMEOUTS } from './query-timeouts.ts';
import { makeQuestionRing, QuestionProducer } from './question-ring.ts';
import { makeReaderCounters, readReaderCounters } from './reader-counters.ts';
import { ORDER, type ReaderData, WAIT_MILLISECONDS } from './reader-loop.ts';
import { makeSteeringWords } from './reader-steering.ts';
import { type QuestionSource, SlowPathQueue } from './slow-path-queue.ts';
import type { ReaderForwarding } from './types.ts';
import { MAX_UNANSWERED, type UdpBasics, type UdpCounts, type UdpListener } from './udp-listener.ts';
import { type StartThread, UdpReader } from './udp-reader.ts';

export interface UdpOptions extends UdpBasics {
  /** The initial number of readers, from 1. */
  readonly readers: number;
  /** The maximum number of readers: more are started as needed. Default: `readers`. */
  readonly maxReaders?: number | undefined;
  /** The table's number of the first reader; the others follow. */
  readonly firstReader: number;
  readonly table: SharedArrayBuffer | undefined;
  /** Join ports that another process may serve, instead of checking that they are free. */
  readonly takeover: boolean;
  /** A reader's thread has died, perhaps in the middle of a batch: make its epoch even. */
  readonly onReaderDead: (reader: number) => void;
  /** Milliseconds to wait for more packets after receiving a single one; 0 by default. */
  readonly coalesce?: number;
  /** Octets of questions that a reader may queue for the main thread, a power of two; 512 KiB by default. */
  readonly ringOctets?: number;
  /** Lets readers forward questions by themselves. */
  readonly forwarding?: ReaderForwarding | undefined;
  /** Answers from the table what readers have no room for, and writes the event of it. Default: the chain answers. */
  readonly answerLarge?: AnswerLarge | undefined;
  /** Maximum of unanswered slow questions; 10,000 by default. */
  readonly maxUnanswered?: number;
  /** Starts a reader's thread; see `makeStartThread`. */
  readonly startThread: StartThread;
}

/** A packet size that fits any sensible query, whatever `udpSize` is. */
const MIN_PACKET_OCTETS = 1280;
/** Some 3,000 questions: more than may wait for upstream servers at once. */
const RING_OCTETS = 512 * 1024;
/** How long readers may take to answer queued packets when they stop. */
const DRAIN_MILLISECONDS = 2000;

/**
 * Serves UDP by batches; `batchesAvailable` tells where that works.
 *
 * @throws PortInUseError, SocketError, AddressError; or the reason why the reader threads could not start
 */
export async function listenByBatches(options: UdpOptions): Promise<UdpListener> {
  const { addresses, readers, takeover } = options;
  const sockets = openReaderSockets(addresses, readers, takeover);
  const listener = new BatchListener(options, sockets);
  await listener.ready();
  return listener;
}

/**
 * Serves open sockets with one reader, which does not receive before `begin`: another listener may serve them until then.
 *
 * @param sockets one for each address @throws the reason why the reader thread could not start
 */
export async function prepareByBatches(
  options: Omit<UdpOptions, 'readers' | 'takeover'>,
  sockets: readonly BoundSocket[],
): Promise<BatchListener> {
  const listener = new BatchListener({ ...options, readers: 1 }, [sockets], ORDER.HOLD);
  try {
    await listener.ready();
    return listener;
  } catch (error) {
    await listener.release(new Set(sockets));
    await listener.stop(0);
    throw error;
  }
}

type BatchOptions = Omit<UdpOptions, 'takeover'>;

export class BatchListener implements UdpListener {
  readonly endpoints: readonly SocketAddress[];
  readonly #options: BatchOptions;
  readonly #readers: UdpReader[];
  readonly #slow: SlowPathQueue;
  readonly #steeringWords: SharedArrayBuffer;
  readonly #steering: PacketSteering;
  readonly #clock: Clock;
  readonly #log: UdpOptions['log'];
  readonly #endFollowing: (() => void) | undefined;
  /** Whether packets may be steered: other listeners must have no sockets in our ports. */
  #isSteering: boolean;
  /** Whether it is about to leave its ports. */
  #isLeaving = false;
  /** Sockets that another listener has taken over. */
  #released: ReadonlySet<BoundSocket> = new Set();
  #stopped: Promise<void> | undefined;
  #isClosed = false;
  /** Kernel drops of sockets that were replaced. */
  #dropsOfReplaced = 0;
  /** Kernel drops when the sockets were closed. */
  #lastDrops = 0;

  constructor(
    options: BatchOptions,
    sockets: readonly (readonly BoundSocket[])[],
    order: number = ORDER.RUN,
  ) {
    this.endpoints = (sockets[0] ?? []).map(({ endpoint }) => endpoint);
    this.#options = options;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#isSteering = order !== ORDER.HOLD;
    const maxReaders = options.maxReaders ?? options.readers;
    this.#steeringWords = makeSteeringWords(maxReaders);
    this.#readers = sockets.map((own, index) => this.#makeReader(own, index, order));
    const { clock, log } = options;
    this.#steering = new PacketSteering({
      memory: this.#steeringWords,
      maxReaders,
      sockets: () => this.#readers.map((reader) => reader.sockets),
      countStarted: () => this.#countStarted(),
      startReader: () => this.#startReader(),
      clock,
      log,
    });
    this.#slow = new SlowPathQueue(this.#readers.map(toQuestionSource), {
      handleQuery: options.handleQuery,
      answerLarge: options.answerLarge,
      forwarding: options.forwarding,
      maxUnanswered: options.maxUnanswered ?? MAX_UNANSWERED,
      timeouts: options.timeouts ?? DEFAULT_QUERY_TIMEOUTS,
      udpSize: options.udpSize,
      events: options.events?.main,
      clock: options.clock,
      log: options.log,
    });
    this.#endFollowing = options.forwarding?.follow((policy) => {
      for (const reader of this.#readers) reader.post(policy);
    });
  }

  #makeReader(own: readonly BoundSocket[], index: number, order: number): UdpReader {
    const options = this.#options;
    // Uses the policy in force when the thread starts.
    const start: StartThread = (data) =>
      options.startThread({ ...data, forwarding: options.forwarding?.createReaderData(data.reader) });
    const events = {
      onQuestions: () => this.#slow.wake(),
      onDead: (reader: number) => {
        options.forwarding?.readerDied(reader);
        options.onReaderDead(reader);
      },
      onChange: () => {
        // First of all, since a program of the kernel would choose sockets that leave.
        this.#steer();
        this.#leavePorts();
      },
      onRestart: (reader: UdpReader) => this.#rejoinPorts(reader),
    };
    return new UdpReader(
      readerData(options, own, index, this.#steeringWords, order),
      own,
      start,
      events,
      options,
    );
  }

  /** Starts one more reader. Settles when it receives. @throws SocketError, or the reason why its thread cannot start */
  async #startReader(): Promise<void> {
    // The ports are shared with our own sockets.
    const [sockets = []] = openReaderSockets(this.endpoints, 1, true);
    const reader = this.#makeReader(sockets, this.#readers.length, ORDER.RUN);
    this.#readers.push(reader);
    this.#slow.add(toQuestionSource(reader));
    try {
      await reader.ready;
    } catch (error) {
      // The code that leaves the ports closes the sockets.
      if (this.#isLeaving) return;
      this.#readers.splice(this.#readers.indexOf(reader), 1);
      // Packets queued in them are lost: the kernel sends them packets only while another reader is in trouble too.
      for (const { fd } of sockets) closeDescriptor(fd);
      throw error;
    }
    this.#log.info('another reader thread serves UDP', { readers: this.#readers.length });
  }

  async ready(): Promise<void> {
    try {
      await Promise.all(this.#readers.map((reader) => reader.ready));
    } catch (error) {
      await this.#end();
      throw error;
    }
    const addresses = this.endpoints.map(formatSocketAddress).join(', ');
    this.#log.info('serving UDP by batches', { addresses, readers: this.#readers.length });
  }

  count(): UdpCounts {
    return {
      readers: this.#readers.map(({ data }) => readReaderCounters(data.counters)),
      down: this.#readers.filter(({ isAlive, isStarting }) => !isAlive && !isStarting).length,
      restarts: this.#readers.reduce((sum, { restarts }) => sum + restarts, 0),
      kernelDrops: this.#isClosed ? this.#lastDrops : this.#countDrops(),
      slow: this.#slow.count(),
    };
  }

  /** Steers packets while each reader has a receiving thread; readers that wait for their first thread do not count. */
  #steer(): void {
    if (this.#isLeaving || !this.#isSteering) return;
    const areAlive = this.#readers.every(({ isAlive, isStarting }) => isAlive || isStarting);
    this.#steering.update(areAlive && this.#countStarted() > 0);
  }

  /** The number of readers before the first one that is starting. */
  #countStarted(): number {
    const starting = this.#readers.findIndex(({ isStarting }) => isStarting);
    return starting < 0 ? this.#readers.length : starting;
  }

  /**
   * Takes sockets of readers without a thread out of their ports, as long as another reader is alive. A reader whose
   * successor starts at once keeps them, and queued packets wait for it.
   */
  #leavePorts(): void {
    if (this.#stopped !== undefined || !this.#readers.some(({ isAlive }) => isAlive)) return;
    for (const reader of this.#readers) {
      if (!reader.isPausing || !reader.isInGroup) continue;
      for (const socket of reader.sockets) leavePortGroup(socket);
      reader.isInGroup = false;
      handOverQueries(reader, this.#clock.monotonic());
    }
    this.#slow.wake();
  }

  /** Brings the sockets back, since the next thread is about to start. */
  #rejoinPorts(reader: UdpReader): void {
    if (reader.isInGroup) return;
    reader.isInGroup = true;
    for (const socket of reader.sockets) {
      this.#dropsOfReplaced += countKernelDrops(socket.fd);
      try {
        rejoinPortGroup(socket, WAIT_MILLISECONDS);
      } catch (error) {
        const address = formatSocketAddress(socket.endpoint);
        this.#log.error('a reader serves an address no more', { address, reason: describeDefect(error) });
      }
    }
  }

  /** Lets the prepared reader receive. */
  begin(): void {
    for (const reader of this.#readers) reader.begin();
  }

  /** Call it when the listener whose sockets were taken over is closed. Until then, positions in the port group are uncertain. */
  formerEnded(): void {
    this.#isSteering = true;
    this.#steer();
  }

  /**
   * Leaves these sockets to another listener, which may receive on them after this settles. All others leave their
   * ports, and packets queued in them are answered. Call `stop` next; it does not close these sockets.
   */
  async release(sockets: ReadonlySet<BoundSocket>): Promise<void> {
    this.#released = sockets;
    this.#isLeaving = true;
    this.#steering.stop();
    for (const socket of this.#sockets()) leavePortGroup(socket);
    for (const reader of this.#readers) reader.halt();
    await within(this.#clock, DRAIN_MILLISECONDS, Promise.all(this.#readers.map((reader) => reader.ended)));
    await Promise.all(this.#readers.map((reader) => reader.terminate()));
    for (const reader of this.#readers) handOverQueries(reader, this.#clock.monotonic(), sockets);
    this.#slow.wake();
  }

  stop(graceMilliseconds: number): Promise<void> {
    this.#stopped ??= this.#leave(graceMilliseconds);
    return this.#stopped;
  }

  async #leave(graceMilliseconds: number): Promise<void> {
    this.#isLeaving = true;
    this.#steering.stop();
    for (const socket of this.#sockets()) leavePortGroup(socket);
    for (const reader of this.#readers) reader.drain();
    await within(this.#clock, DRAIN_MILLISECONDS, Promise.all(this.#readers.map((reader) => reader.ended)));
    await within(this.#clock, graceMilliseconds, this.#slow.settle());
    await this.#end();
  }

  async #end(): Promise<void> {
    this.#endFollowing?.();
    this.#isLeaving = true;
    this.#steering.stop();
    await Promise.all(this.#readers.map((reader) => reader.terminate()));
    this.#slow.close();
    this.#lastDrops = this.#countDrops();
    this.#isClosed = true;
    for (const { fd } of this.#sockets()) closeDescriptor(fd);
  }

  #countDrops(): number {
    return this.#sockets().reduce((sum, { fd }) => sum + countKernelDrops(fd), this.#dropsOfReplaced);
  }

  /** The sockets that it has to close itself. */
  #sockets(): readonly BoundSocket[] {
    return this.#readers.flatMap(({ sockets }) => sockets).filter((socket) => !this.#released.has(socket));
  }
}

/** Hands packets queued in a reader's sockets to the main thread, as questions that the reader could not answer. */
function handOverQueries(
  { data, sockets }: UdpReader,
  now: number,
  kept: ReadonlySet<BoundSocket> = new Set(),
): void {
  const batch = new PacketBatch(data.packetSize);
  const drops = openDrops(data.drops);
  const questions = new QuestionProducer(data.ring, (socket) => drops[socket]?.add(DROPPED.QUERIES, 1));
  for (const [socket, bound] of sockets.entries()) {
    if (kept.has(bound)) continue;
    const { fd } = bound;
    const plan = data.proxies[socket];
    const proxies = plan && new ProxiedPackets(plan);
    for (let left = batch.receive(fd, MSG_DONTWAIT); left > 0; left = batch.receive(fd, MSG_DONTWAIT))
      for (let index = 0; index < left; index++)
        if (!batch.isCut(index) && proxies?.take(batch, index) !== false) {
          const start = batch.startAt(index);
          const length = batch.lengthAt(index);
          questions.push(socket, batch, index, batch.octets, start, length, now);
        }
  }
}

function toQuestionSource({ data, sockets }: UdpReader): QuestionSource {
  return { ...data, endpoints: sockets.map(({ endpoint }) => endpoint) };
}

function readerData(
  options: BatchOptions,
  sockets: readonly BoundSocket[],
  index: number,
  steering: SharedArrayBuffer,
  order: number,
): ReaderData {
  const orders = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  new Int32Array(orders)[0] = order;
  return {
    table: options.table,
    reader: options.firstReader + index,
    sockets: sockets.map(({ fd }) => fd),
    groups: options.addresses.map(({ group = 0 }) => group),
    orders,
    counters: makeReaderCounters(),
    events: options.addresses.map(({ events = options.events }) => events?.ofReader(index)),
    ring: makeQuestionRing(options.ringOctets ?? RING_OCTETS),
    packetSize: Math.max(MIN_PACKET_OCTETS, options.udpSize),
    udpSize: options.udpSize,
    clientRules: options.addresses.map(({ clientRules = options.clientRules }) => clientRules),
    proxies: options.addresses.map(({ proxies }) => proxies),
    drops: options.addresses.map(({ drops }) => drops),
    coalesce: options.coalesce,
    // A single reader has nothing to report.
    steering: (options.maxReaders ?? options.readers) > 1 ? { words: steering, place: index } : undefined,
  };
}

/** Whether another process serves the port of one of these addresses. False where that cannot be determined. */
export function isServed(addresses: readonly SocketAddress[]): boolean {
  return addresses.some((address) => {
    try {
      probeUdpPort(address);
      return false;
    } catch (error) {
      return error instanceof PortInUseError;
    }
  });
}

/**
 * Opens the sockets of `readers` readers; on failure, closes all again.
 *
 * @param endpoints that the readers serve; port 0 picks a free one
 * @param takeover join ports that another process may serve, instead of checking that they are free
 * @throws PortInUseError, SocketError, AddressError
 */
function openReaderSockets(
  endpoints: readonly SocketAddress[],
  readers: number,
  takeover: boolean,
): readonly (readonly BoundSocket[])[] {
  const opened: BoundSocket[][] = Array.from({ length: readers }, () => []);
  try {
    for (const wanted of endpoints) {
      if (!takeover && wanted.port !== 0) probeUdpPort(wanted);
      let endpoint = wanted;
      for (const sockets of opened) {
        const socket = openUdpSocket(endpoint, WAIT_MILLISECONDS);
        sockets.push(socket);
        endpoint = socket.endpoint;
      }
    }
    return opened;
  } catch (error) {
    for (const { fd } of opened.flat()) closeDescriptor(fd);
    throw error;
  }
}
