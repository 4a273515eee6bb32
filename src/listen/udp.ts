/**
 * UDP by batches: opens the sockets, starts the readers, has slow questions answered, and leaves without loss.
 *
 * Every reader has a socket of its own per address, and `PacketSteering` says which readers get packets. A reader that is started later
 * opens its sockets then: those of a port group all have a thread.
 */
import type { Clock } from '../base/clock.ts';
import { formatSocketAddress, type SocketAddress } from '../socket/addresses.ts';
import { PacketBatch } from '../socket/batch.ts';
import { type BoundSocket, closeDescriptor } from '../socket/descriptor.ts';
import { MSG_DONTWAIT } from '../socket/linux.ts';
import { PortInUseError } from '../socket/socket-error.ts';
import { countKernelDrops, leavePortGroup, probeUdpPort, rejoinPortGroup } from '../socket/udp-socket.ts';
import { reasonOf } from './faults.ts';
import { PacketSteering } from './packet-steering.ts';
import { makeQuestionRing, QuestionProducer } from './question-ring.ts';
import { makeReaderCounters, readReaderCounters } from './reader-counters.ts';
import { ORDER, type ReaderData, WAIT_MILLISECONDS } from './reader-loop.ts';
import { openReaderSockets } from './reader-sockets.ts';
import { makeSteeringWords } from './reader-steering.ts';
import { type QuestionSource, SlowPathQueue } from './slow-path-queue.ts';
import type { PacketPath, ReaderForwarding } from './types.ts';
import { MAX_UNANSWERED, type UdpBasics, type UdpCounts, type UdpListener } from './udp-listener.ts';
import { type StartThread, UdpReader } from './udp-reader.ts';
import { within } from './within.ts';

export interface UdpOptions extends UdpBasics {
  /** How many readers at first, from 1. */
  readonly readers: number;
  /** How many there may be: others are started as they are needed. Default: `readers`. */
  readonly maxReaders?: number | undefined;
  /** The table's number of the first reader; the others follow. */
  readonly firstReader: number;
  readonly table: SharedArrayBuffer | undefined;
  /** Join ports that another process may serve, instead of making sure that none does. */
  readonly takeover: boolean;
  /** A reader's thread is gone, perhaps in the middle of a batch: its epoch must be evened. */
  readonly onReaderDead: (reader: number) => void;
  /** Milliseconds for which a reader that has received a single packet waits for more; 0 by default. */
  readonly coalesce?: number;
  /** Octets of questions that a reader may have waiting for the main thread, a power of two; 512 KiB by default. */
  readonly ringOctets?: number;
  /** Asked before `handleQuery`. */
  readonly packetPath?: PacketPath | undefined;
  /** Has readers forward questions by themselves. */
  readonly forwarding?: ReaderForwarding | undefined;
  /** Slow questions that may be unanswered at once; 10,000 by default. */
  readonly maxUnanswered?: number;
  /** Starts a reader's thread; see `startThreadOf`. */
  readonly startThread: StartThread;
}

/** The size of a packet that any sensible query fits into, whatever `udpSize` is. */
const MIN_PACKET_OCTETS = 1280;
/** Some 4,000 questions: more than may be asked upstream and wait for it together. */
const RING_OCTETS = 512 * 1024;
/** How long readers may take to answer what is queued when they stop. */
const DRAIN_MILLISECONDS = 2000;

/**
 * Serves UDP by batches; see `batchesAvailable` for where that can be had.
 *
 * @throws PortInUseError, SocketError, AddressError; or what kept the reader threads from starting
 */
export async function listenByBatches(options: UdpOptions): Promise<UdpListener> {
  const { addresses, readers, takeover } = options;
  const sockets = openReaderSockets(addresses, readers, takeover);
  const listener = new BatchListener(options, sockets);
  await listener.ready();
  return listener;
}

/**
 * Serves sockets that are open already with one reader, which receives nothing until `begin`: another listener may serve them
 * until then.
 *
 * @param sockets one for each address @throws what kept the reader thread from starting
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
  /** Whether packets may be steered: other listeners have no sockets in our ports. */
  #isSteering: boolean;
  /** Whether it is about to leave its ports. */
  #isLeaving = false;
  /** Sockets that another listener has taken over. */
  #released: ReadonlySet<BoundSocket> = new Set();
  #stopped: Promise<void> | undefined;
  #isClosed = false;
  /** The kernel's drops of sockets that others have replaced. */
  #dropsOfReplaced = 0;
  /** The kernel's drops when the sockets were closed. */
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
    this.#slow = new SlowPathQueue(this.#readers.map(questionSourceOf), {
      handleQuery: options.handleQuery,
      packetPath: options.packetPath,
      forwarding: options.forwarding,
      maxUnanswered: options.maxUnanswered ?? MAX_UNANSWERED,
      udpSize: options.udpSize,
      events: options.events?.main,
      clientRules: options.clientRules,
      clock: options.clock,
      log: options.log,
    });
    this.#endFollowing = options.forwarding?.follow((policy) => {
      for (const reader of this.#readers) reader.post(policy);
    });
  }

  #makeReader(own: readonly BoundSocket[], index: number, order: number): UdpReader {
    const options = this.#options;
    // The policy is the one that holds when the thread starts.
    const start: StartThread = (data) =>
      options.startThread({ ...data, forwarding: options.forwarding?.dataOf(data.reader) });
    const events = {
      onQuestions: () => this.#slow.wake(),
      onDead: (reader: number) => {
        options.forwarding?.readerDied(reader);
        options.onReaderDead(reader);
      },
      onChange: () => {
        // First of all, as a program of the kernel would choose sockets that leave.
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

  /** Starts one more reader. Settles when it receives. @throws SocketError, or what keeps its thread from starting */
  async #startReader(): Promise<void> {
    // The ports are shared with our own sockets.
    const [sockets = []] = openReaderSockets(this.endpoints, 1, true);
    const reader = this.#makeReader(sockets, this.#readers.length, ORDER.RUN);
    this.#readers.push(reader);
    this.#slow.add(questionSourceOf(reader));
    try {
      await reader.ready;
    } catch (error) {
      // Who leaves the ports closes them.
      if (this.#isLeaving) return;
      this.#readers.splice(this.#readers.indexOf(reader), 1);
      // They are closed with what has come there: the kernel gives them packets only while another reader is in trouble too.
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

  /** Steers packets as long as each reader has a thread that receives, but for those that are yet to have their first. */
  #steer(): void {
    if (this.#isLeaving || !this.#isSteering) return;
    const areAlive = this.#readers.every(({ isAlive, isStarting }) => isAlive || isStarting);
    this.#steering.update(areAlive && this.#countStarted() > 0);
  }

  /** Readers before the first one that is starting. */
  #countStarted(): number {
    const starting = this.#readers.findIndex(({ isStarting }) => isStarting);
    return starting < 0 ? this.#readers.length : starting;
  }

  /**
   * Takes the sockets of readers whose threads are not there out of their ports, as long as another reader is alive. One
   * whose successor starts at once keeps them, and what is queued waits for it.
   */
  #leavePorts(): void {
    if (this.#stopped !== undefined || !this.#readers.some(({ isAlive }) => isAlive)) return;
    for (const reader of this.#readers) {
      if (!reader.isPausing || !reader.isInGroup) continue;
      for (const socket of reader.sockets) leavePortGroup(socket);
      reader.isInGroup = false;
      handOverQueries(reader);
    }
    this.#slow.wake();
  }

  /** Brings them back, as the next thread is about to start. */
  #rejoinPorts(reader: UdpReader): void {
    if (reader.isInGroup) return;
    reader.isInGroup = true;
    for (const socket of reader.sockets) {
      this.#dropsOfReplaced += countKernelDrops(socket.fd);
      try {
        rejoinPortGroup(socket, WAIT_MILLISECONDS);
      } catch (error) {
        const address = formatSocketAddress(socket.endpoint);
        this.#log.error('a reader serves an address no more', { address, reason: reasonOf(error) });
      }
    }
  }

  /** Lets the reader receive that was prepared. */
  begin(): void {
    for (const reader of this.#readers) reader.begin();
  }

  /** Says that the listener is closed whose sockets it has taken over: until then, places among the sockets are uncertain. */
  formerEnded(): void {
    this.#isSteering = true;
    this.#steer();
  }

  /**
   * Leaves these sockets to another listener, which may receive on them when this has ended. All others leave their ports, and
   * what is queued in them is answered. `stop` is to be called next; it closes none of these.
   */
  async release(sockets: ReadonlySet<BoundSocket>): Promise<void> {
    this.#released = sockets;
    this.#isLeaving = true;
    this.#steering.stop();
    for (const socket of this.#sockets()) leavePortGroup(socket);
    for (const reader of this.#readers) reader.halt();
    await within(this.#clock, DRAIN_MILLISECONDS, Promise.all(this.#readers.map((reader) => reader.ended)));
    await Promise.all(this.#readers.map((reader) => reader.terminate()));
    for (const reader of this.#readers) handOverQueries(reader, sockets);
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

  /** Those that are its own to close. */
  #sockets(): readonly BoundSocket[] {
    return this.#readers.flatMap(({ sockets }) => sockets).filter((socket) => !this.#released.has(socket));
  }
}

/** Gives what waits in the sockets of a reader to the main thread, as if the reader could not have answered it. */
function handOverQueries({ data, sockets }: UdpReader, kept: ReadonlySet<BoundSocket> = new Set()): void {
  const batch = new PacketBatch(data.packetSize);
  const questions = new QuestionProducer(data.ring);
  for (const [socket, bound] of sockets.entries()) {
    if (kept.has(bound)) continue;
    const { fd } = bound;
    for (let left = batch.receive(fd, MSG_DONTWAIT); left > 0; left = batch.receive(fd, MSG_DONTWAIT))
      for (let index = 0; index < left; index++)
        if (!batch.isCut(index))
          questions.push(socket, batch, index, batch.octets, batch.startOf(index), batch.lengthOf(index));
  }
}

function questionSourceOf({ data, sockets }: UdpReader): QuestionSource {
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
    clientRules: options.clientRules,
    coalesce: options.coalesce,
    // A reader that is alone has nothing to say.
    steering: (options.maxReaders ?? options.readers) > 1 ? { words: steering, place: index } : undefined,
  };
}

/** Whether another process has the port of one of these addresses. Where that cannot be found out, none has. */
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
