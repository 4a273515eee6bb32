/**
 * Spreads packets over the readers of a listener: each packet goes to a random one of the fewest readers that are
 * enough. One reader that rarely sleeps is cheaper than several that wake up for each packet. `ReaderDemand` decides
 * how many are enough; a reader without a thread gets one when needed, and keeps it.
 *
 * The kernel chooses by client instead while a reader has no thread, or foreign sockets share the port: then a packet
 * could go to a socket that no thread receives on. The same holds if the kernel accepts no programs. All running
 * readers get packets then, and one more is started when they are busy.
 */
import type { Clock, Timer } from '../base/clock.ts';
import { describeDefect } from '../base/describe-error.ts';
import type { Log } from '../base/log.ts';
import { formatSocketAddress } from '../base/socket-address.ts';
import type { BoundSocket } from '../socket/descriptor.ts';
import { libc } from '../socket/libc.ts';
import { countPortSharers } from '../socket/port-sharers.ts';
import { type Spread, steerPort } from '../socket/port-steering.ts';
import { ReaderDemand } from './reader-demand.ts';
import { STEERING, SteeringWords } from './reader-steering.ts';

export interface PacketSteeringOptions {
  /** The memory from `makeSteeringWords`. */
  readonly memory: SharedArrayBuffer;
  /** Maximum of readers. */
  readonly maxReaders: number;
  /** The sockets of each reader, one per address; those of a starting reader come last. */
  readonly sockets: () => readonly (readonly BoundSocket[])[];
  /** The number of readers without a starting one. */
  readonly countStarted: () => number;
  /** Starts one more reader, and calls `update` when it receives. @throws the reason why it cannot start */
  readonly startReader: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often to measure the readers' work. */
const LOOK_MILLISECONDS = 500;
/** How long to wait before checking again whether others share the port. */
const SHARED_PAUSE_MILLISECONDS = 5000;

export class PacketSteering {
  readonly #options: PacketSteeringOptions;
  readonly #words: SteeringWords;
  readonly #demand = new ReaderDemand();
  /** Whether each reader has a thread that receives. */
  #isReady = false;
  /** `refused`: the kernel accepts no programs. */
  #state: 'steered' | 'by client' | 'refused' | 'stopped' = 'by client';
  /** Maximum of readers: lowered if one could not be started. */
  #max: number;
  /** Readers that are enough; some may not be started yet. */
  #wanted = 1;
  /** Readers that the program selects from. */
  #inUse = 1;
  #isStarting = false;
  #timer: Timer | undefined;
  #lookedAt = 0;
  #busyBefore = 0;
  /** When to check the ports again, since others may have left them. */
  #steerAt = 0;

  constructor(options: PacketSteeringOptions) {
    this.#options = options;
    this.#max = options.maxReaders;
    this.#words = new SteeringWords(options.memory);
    if (options.maxReaders < 2) this.#state = 'stopped';
  }

  /**
   * Call it when the readers have changed.
   *
   * @param isReady whether each has a thread that receives; a starting one does not count
   */
  update(isReady: boolean): void {
    if (this.#state === 'stopped') return;
    if (isReady && this.#isReady) this.#use(this.#wanted);
    else if (isReady) this.#begin();
    else this.#end();
  }

  /** Leaves the choice to the kernel for good, since the sockets are about to leave their ports. */
  stop(): void {
    if (this.#state === 'stopped') return;
    this.#end();
    this.#state = 'stopped';
  }

  #begin(): void {
    this.#isReady = true;
    this.#steer();
    this.#lookLater();
  }

  #end(): void {
    if (!this.#isReady) return;
    this.#isReady = false;
    this.#timer?.cancel();
    this.#leaveToKernel();
  }

  #leaveToKernel(): void {
    this.#words.mode = STEERING.BY_CLIENT;
    if (this.#state !== 'steered') return;
    this.#state = 'by client';
    this.#attach({ kind: 'by client' });
  }

  /** Steers packets if that is possible now. */
  #steer(): void {
    if (this.#state !== 'by client') return;
    this.#state = 'steered';
    this.#inUse = 0;
    this.#use(this.#wanted);
  }

  /** Spreads packets over this many readers, or as many as run, and starts one if more are needed. */
  #use(readers: number): void {
    this.#wanted = Math.min(readers, this.#max);
    const started = this.#options.countStarted();
    const isLeft = this.#words.mode === STEERING.BY_CLIENT;
    const inUse = Math.min(this.#wanted, started);
    if (this.#state === 'steered' && (isLeft || inUse !== this.#inUse)) this.#attachFirst(inUse);
    if (this.#wanted > started) void this.#startReader();
  }

  #attachFirst(sockets: number): void {
    const { clock, log } = this.#options;
    if (!this.#isPortOurs()) {
      this.#leaveToKernel();
      this.#steerAt = clock.monotonic() + SHARED_PAUSE_MILLISECONDS;
      return;
    }
    const errno = this.#attach({ kind: 'first', sockets });
    if (errno !== 0) {
      const reason = libc().errorName(errno);
      log.debug('packet steering off: the kernel refused the program, it spreads packets by client', {
        reason,
      });
      this.#leaveToKernel();
      this.#state = 'refused';
      return;
    }
    if (this.#inUse !== 0) log.debug('packets go to another number of readers', { readers: sockets });
    this.#inUse = sockets;
    this.#words.mode = STEERING.STEERED;
  }

  /** Its sockets are the last of their ports, and programs do not select them until it receives. */
  async #startReader(): Promise<void> {
    if (this.#isStarting) return;
    const { startReader, countStarted, log } = this.#options;
    this.#isStarting = true;
    try {
      await startReader();
    } catch (error) {
      this.#max = countStarted();
      this.#wanted = this.#max;
      log.warn('no more readers: one could not be started', {
        readers: this.#max,
        reason: describeDefect(error),
      });
    }
    this.#isStarting = false;
  }

  /** Whether all sockets of our ports are our own. If that cannot be determined, assumes that they are not. */
  #isPortOurs(): boolean {
    const { log } = this.#options;
    const sockets = this.#options.sockets();
    const shared = sockets[0]?.find(({ endpoint }) => countPortSharers(endpoint) !== sockets.length);
    if (shared === undefined) return true;
    log.debug('packet steering off: others may share the port, the kernel spreads packets by client', {
      address: formatSocketAddress(shared.endpoint),
    });
    return false;
  }

  #lookLater(): void {
    const { clock } = this.#options;
    this.#lookedAt = clock.monotonic();
    this.#busyBefore = this.#words.busy;
    this.#timer = clock.after(LOOK_MILLISECONDS, () => this.#look());
  }

  #look(): void {
    const now = this.#options.clock.monotonic();
    const elapsed = Math.max(1, now - this.#lookedAt);
    const inUse = this.#readersInUse();
    const enough = this.#demand.judge(inUse, (this.#words.busy - this.#busyBefore) / elapsed, elapsed);
    if (enough !== inUse) this.#use(enough);
    if (this.#state === 'by client' && now >= this.#steerAt) this.#steer();
    this.#watch();
    this.#lookLater();
  }

  #readersInUse(): number {
    return this.#state === 'steered' ? this.#inUse : this.#options.countStarted();
  }

  /** Asks readers to report too many packets, if more readers could help. Once between two measurements is enough. */
  #watch(): void {
    if (this.#words.mode !== STEERING.STEERED || this.#isStarting || this.#inUse >= this.#max) return;
    this.#words.mode = STEERING.WATCHED;
    const ended = this.#words.untilEnded();
    if (ended === undefined) this.#onOverload();
    else void ended.then(() => this.#onOverload());
  }

  /** A reader had too many packets, unless we left the mode ourselves. */
  #onOverload(): void {
    if (this.#state !== 'steered' || this.#words.mode !== STEERING.BY_CLIENT) return;
    this.#use(this.#demand.overloaded(this.#inUse));
  }

  /** Attaches a program to each port. @returns the last error number of the kernel, or 0 */
  #attach(spread: Spread): number {
    let last = 0;
    // Sockets of one address usually share a port group, but not always: see `rejoinPortGroup`.
    for (const { fd } of this.#options.sockets().flat()) last = steerPort(fd, spread) || last;
    return last;
  }
}
