/**
 * How packets are spread over the readers of a listener. All go to one reader as long as that one is enough, since one that never
 * sleeps answers cheaper than several that wake up for each packet. When its batches grow, each packet goes to a reader drawn by
 * chance. When far fewer come, one reader gets all again, after a pause that grows if that was too early.
 *
 * The kernel chooses by client instead while a reader has no thread, or sockets that are not ours share the port: then a place
 * among the sockets of the port may be one that no thread receives on. The same holds where the kernel takes no programs.
 */
import type { Clock, Timer } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { formatSocketAddress } from '../socket/addresses.ts';
import type { BoundSocket } from '../socket/descriptor.ts';
import { libc } from '../socket/libc.ts';
import { countPortSharers } from '../socket/port-sharers.ts';
import { type Spread, steerPort } from '../socket/port-steering.ts';
import { STEERING, SteeringWords } from './reader-steering.ts';

export interface PacketSteeringOptions {
  /** The words of `makeSteeringWords`. */
  readonly memory: SharedArrayBuffer;
  /** The sockets of each reader, one for each address. */
  readonly sockets: readonly (readonly BoundSocket[])[];
  /** Packets that all readers have received so far. */
  readonly countPackets: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

const BY_CLIENT: Spread = { kind: 'by client' };
/** How long others that share the port are left alone before they are looked for again. */
const SHARED_PAUSE_MILLISECONDS = 5000;
/** One reader gets all packets when they are less than this share of what it could answer. */
const MAX_SHARE = 0.3;
const FIRST_PAUSE_MILLISECONDS = 250;
const MAX_PAUSE_MILLISECONDS = 64_000;
/** If one reader was enough for less long, it was tried too early. */
const SETTLED_MILLISECONDS = 1000;

export class PacketSteering {
  readonly #options: PacketSteeringOptions;
  readonly #words: SteeringWords;
  #isReady = false;
  #isRefused: boolean;
  #timer: Timer | undefined;
  #pause = FIRST_PAUSE_MILLISECONDS;
  /** When one reader began to get all packets. */
  #oneSince = Number.NEGATIVE_INFINITY;

  constructor(options: PacketSteeringOptions) {
    this.#options = options;
    this.#words = new SteeringWords(options.memory);
    this.#isRefused = options.sockets.length < 2;
  }

  /** @param isReady whether each reader has a thread that receives */
  update(isReady: boolean): void {
    if (isReady === this.#isReady || this.#isRefused) return;
    this.#isReady = isReady;
    this.#timer?.cancel();
    if (isReady) this.#chooseOne();
    else this.#leaveToKernel();
  }

  /** Leaves the choice to the kernel for good, as the sockets are about to leave their ports. */
  stop(): void {
    this.update(false);
    this.#isRefused = true;
  }

  #leaveToKernel(): void {
    this.#oneSince = Number.NEGATIVE_INFINITY;
    this.#words.mode = STEERING.BY_CLIENT;
    this.#attach(BY_CLIENT);
  }

  #chooseOne(): void {
    const { clock, log } = this.#options;
    if (!this.#isPortOurs()) {
      this.#leaveToKernel();
      this.#timer = clock.after(SHARED_PAUSE_MILLISECONDS, () => this.#chooseOne());
      return;
    }
    const errno = this.#attach({ kind: 'first' });
    if (errno !== 0) {
      const reason = libc().errorName(errno);
      log.debug('the kernel spreads packets over readers by client: it takes no program', { reason });
      this.stop();
      return;
    }
    this.#oneSince = clock.monotonic();
    this.#words.mode = STEERING.ONE;
    this.#watch();
  }

  /** Whether all sockets of our ports are our own. Where that cannot be known, they may be others'. */
  #isPortOurs(): boolean {
    const { sockets, log } = this.#options;
    const shared = sockets[0]?.find(({ endpoint }) => countPortSharers(endpoint) !== sockets.length);
    if (shared === undefined) return true;
    log.debug('the kernel spreads packets over readers by client: others may share the port', {
      address: formatSocketAddress(shared.endpoint),
    });
    return false;
  }

  #watch(): void {
    const since = this.#oneSince;
    const left = this.#words.untilLeft();
    if (left === undefined) this.#onLeft(since);
    else void left.then(() => this.#onLeft(since));
  }

  /** One reader had too many packets, unless we have left the mode ourselves. @param since when it began to get all */
  #onLeft(since: number): void {
    const { clock, sockets } = this.#options;
    if (since !== this.#oneSince || this.#words.mode !== STEERING.BY_CLIENT) return;
    const lasted = clock.monotonic() - since;
    this.#pause =
      lasted >= SETTLED_MILLISECONDS
        ? FIRST_PAUSE_MILLISECONDS
        : Math.min(this.#pause * 2, MAX_PAUSE_MILLISECONDS);
    this.#attach({ kind: 'random', sockets: sockets.length });
    this.#words.mode = STEERING.RANDOM;
    this.#measure();
  }

  /** Looks after a pause whether one reader would be enough. */
  #measure(): void {
    const { clock, countPackets } = this.#options;
    const [since, before] = [clock.monotonic(), countPackets()];
    this.#timer = clock.after(this.#pause, () => {
      const rate = ((countPackets() - before) * 1000) / Math.max(1, clock.monotonic() - since);
      if (rate < this.#words.capacity * MAX_SHARE) this.#chooseOne();
      else this.#measure();
    });
  }

  /** Attaches a program to each port. @returns the last error number of the kernel, or 0 */
  #attach(spread: Spread): number {
    const { sockets } = this.#options;
    let last = 0;
    // Those of one address share a port, but not always: see `rejoinPortGroup`.
    for (const { fd } of sockets.flat()) last = steerPort(fd, spread) || last;
    return last;
  }
}
