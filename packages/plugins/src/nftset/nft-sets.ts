/**
 * Puts addresses into sets of nftables, and remembers which sets have them: an address that is there for long enough costs nothing.
 *
 * The kernel numbers the generations of its rules. Our transactions make the next one; any other number says that somebody else has
 * changed something, so all that is remembered may be wrong. It is asked once a second, if addresses are wanted.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Counter } from '@portolan/kernel/base/metrics/counted-families.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { OutageLog } from '@portolan/kernel/base/outage-log.ts';
import { RefCounted } from '@portolan/kernel/contract/ref-counted.ts';
import { libc } from '@portolan/kernel/socket/libc.ts';
import { NETLINK_NETFILTER } from '@portolan/kernel/socket/linux.ts';
import type { NetlinkMessage } from '@portolan/kernel/socket/netlink-message.ts';
import { NetlinkError, NetlinkSocket } from '@portolan/kernel/socket/netlink-socket.ts';
import { describeSetError, FollowedSet, formatSet, type SetFault, saysPresent } from './followed-set.ts';
import {
  type ElementChange,
  encodeChanges,
  encodeGetElement,
  encodeGetGeneration,
  encodeGetSet,
  findGeneration,
  findRemainingTime,
  findSetKind,
  listErrors,
} from './nft-messages.ts';
import type { NftSet } from './options.ts';

/** Asks the kernel, one request at a time. */
export interface NftSocket {
  /** @throws NetlinkError */
  exchange(request: Uint8Array): Promise<readonly NetlinkMessage[]>;
  close(): Promise<void>;
}

export interface NftSetsDependencies {
  /** @throws NetlinkError */
  readonly open: () => NftSocket;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MetricRegistry;
}

export interface WantedAddress {
  readonly family: 'ipv4' | 'ipv6';
  readonly address: string;
  /** Its TTL: clients may use it for so long. */
  readonly seconds: number;
}

/** Milliseconds between two questions for the generation. */
const CHECK = 1000;
/** Milliseconds that an address must still be there when a client no longer uses it: less than it gets. */
const MARGIN = 5000;
/** The errors of so many fit into the socket's buffer. */
const MAX_CHANGES = 32;
const MAX_SEQUENCE = 2 ** 31;
/** Addresses that wait for the kernel. Answers with more leave as if it had taken too long. */
const MAX_WAITING = 10_000;

interface Want extends WantedAddress {
  readonly in: FollowedSet;
  /** Until when it must be there. */
  readonly until: number;
}

interface Task {
  readonly wants: readonly Want[];
  readonly done: (areIn: boolean) => void;
}

export class NftSets {
  readonly #dependencies: NftSetsDependencies;
  readonly #sets = new Map<string, FollowedSet>();
  readonly #added: Counter;
  readonly #failed: Counter;
  #socket: NftSocket | undefined;
  #tasks: Task[] = [];
  /** Addresses of `#tasks`. */
  #waiting = 0;
  #isWorking = false;
  #isClosed = false;
  #sequence = 0;
  #generation: number | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(dependencies: NftSetsDependencies) {
    this.#dependencies = dependencies;
    const { metrics } = dependencies;
    this.#added = metrics.counter(
      'portolan_nftset_elements_total',
      'Addresses put into sets of nftables, or given more time there.',
      ['set'],
    );
    this.#failed = metrics.counter(
      'portolan_nftset_failures_total',
      'Addresses that could not be put into a set of nftables.',
      ['set', 'reason'],
    );
  }

  /**
   * Puts addresses into those of the sets that take them.
   *
   * @returns true: all are there; else a promise, which never rejects, of whether they are
   */
  add(sets: readonly NftSet[], addresses: readonly WantedAddress[]): true | Promise<boolean> {
    const now = this.#now();
    const wants = sets.flatMap((set) => {
      const followed = this.#follow(set);
      return addresses.flatMap((wanted): readonly Want[] => {
        if (followed.takes(wanted.family) === false) return [];
        return [{ ...wanted, in: followed, until: now + wanted.seconds * 1000 + MARGIN }];
      });
    });
    const isFresh = now - this.#checkedAt < CHECK;
    if (isFresh && wants.every((want) => want.in.has(want.address, want.until))) return true;
    if (wants.length === 0) return true;
    if (this.#waiting > 0 && this.#waiting + wants.length > MAX_WAITING) return Promise.resolve(false);
    this.#waiting += wants.length;
    return new Promise((resolve) => {
      this.#tasks.push({ wants, done: resolve });
      void this.#work();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#closeSocket();
  }

  #now(): number {
    return this.#dependencies.clock.monotonic();
  }

  #follow(set: NftSet): FollowedSet {
    const key = `${formatSet(set)} ${set.only ?? ''}`;
    const known = this.#sets.get(key);
    if (known !== undefined) return known;
    const { log, clock } = this.#dependencies;
    const outage = new OutageLog(log, clock, {
      failed: 'addresses not put into a set of nftables',
      ended: 'addresses put into a set of nftables again',
    });
    const followed = new FollowedSet(set, outage);
    this.#sets.set(key, followed);
    return followed;
  }

  /** Tasks that come while the kernel works wait, and are then done together. */
  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    while (this.#tasks.length > 0) {
      const tasks = this.#tasks;
      this.#tasks = [];
      this.#waiting = 0;
      const wants = tasks.flatMap((task) => task.wants);
      try {
        await this.#fill(wants);
      } catch (error) {
        this.#failAll(wants, describeError(error));
      }
      const now = this.#now();
      for (const { wants: own, done } of tasks)
        done(own.every((want) => want.in.takes(want.family) === false || want.in.has(want.address, now)));
    }
    this.#isWorking = false;
  }

  async #fill(wants: readonly Want[]): Promise<void> {
    await this.#checkGeneration();
    for (const set of new Set(wants.map((want) => want.in)))
      if (set.isUnknown(this.#now())) await this.#lookAt(set);
    const missing = new Map<string, Want>();
    for (const want of wants) {
      if (want.in.takes(want.family) !== true || want.in.has(want.address, want.until)) continue;
      const key = `${formatSet(want.in.set)} ${want.address}`;
      const other = missing.get(key);
      if (other === undefined || other.until < want.until) missing.set(key, want);
    }
    const all = [...missing.values()];
    for (let at = 0; at < all.length; at += MAX_CHANGES) await this.#put(all.slice(at, at + MAX_CHANGES));
  }

  /** Forgets everything if somebody else has changed the rules. */
  async #checkGeneration(): Promise<void> {
    const now = this.#now();
    if (now - this.#checkedAt < CHECK) return;
    const messages = await this.#ask(encodeGetGeneration(this.#takeSequence()));
    const generation = findGeneration(messages);
    if (generation === undefined || generation !== this.#generation)
      for (const set of this.#sets.values()) set.forget();
    this.#generation = generation;
    this.#checkedAt = now;
  }

  async #lookAt(set: FollowedSet): Promise<void> {
    const messages = await this.#ask(encodeGetSet(set.set, this.#takeSequence()));
    const kind = findSetKind(messages);
    const [errno = 0] = listErrors(messages).values();
    if (kind === undefined) this.#fail(set, this.#describe(set, errno));
    else {
      const fault = set.learn(kind, this.#now());
      if (fault !== undefined) this.#count(set, fault);
    }
  }

  /** One transaction; without those changes that the kernel refuses, once more. */
  async #put(wants: readonly Want[]): Promise<void> {
    const changes = wants.flatMap((want) => {
      const octets = parseAddress(want.address);
      return octets === undefined
        ? []
        : [{ want, change: want.in.change(want.address, octets, want.seconds) }];
    });
    for (let rest = changes; rest.length > 0; ) {
      const refused = await this.#change(rest.map(({ change }) => change));
      if (refused.size === 0) {
        for (const { want, change } of rest) this.#noteAdded(want, change);
        return;
      }
      const again = rest.filter((_, index) => !refused.has(index));
      for (const [index, errno] of refused) {
        const each = rest[index];
        if (each !== undefined) await this.#meet(each.want, each.change, errno);
      }
      rest = again;
    }
  }

  /** @returns the errors by the places of the changes; if there are any, nothing has changed */
  async #change(changes: readonly ElementChange[]): Promise<ReadonlyMap<number, number>> {
    const first = this.#takeSequence(1 + changes.length);
    const messages = await this.#ask(encodeChanges(changes, first));
    const errors = [...listErrors(messages)];
    // An error of the frame is one of all changes.
    const [, whole = 0] = errors.find(([sequence]) => sequence <= first) ?? [];
    if (whole !== 0) return new Map(changes.map((_, index) => [index, whole]));
    // Zero is no generation.
    if (errors.length === 0 && this.#generation !== undefined)
      this.#generation = (this.#generation + 1) >>> 0 || 1;
    return new Map(errors.map(([sequence, code]) => [sequence - first - 1, code]));
  }

  /** What to do with a change that the kernel has refused. */
  async #meet(want: Want, change: ElementChange, errno: number): Promise<void> {
    const { in: set, address, until } = want;
    if (!saysPresent(errno)) {
      this.#fail(set, this.#describe(set, errno));
      return;
    }
    // Another change of the set has failed.
    if (set.takes(want.family) === undefined) return;
    const remaining = set.hasTimeout
      ? findRemainingTime(await this.#ask(encodeGetElement(set.set, change.address, this.#takeSequence())))
      : Number.POSITIVE_INFINITY;
    const end = this.#now() + (remaining ?? 0);
    set.note(address, end);
    // An interval around it keeps its time.
    if (end >= until || change.way === 'renew') return;
    const renewal = { ...change, way: 'renew' } as const;
    const [[, code] = [0, 0]] = await this.#change([renewal]);
    if (code === 0) this.#noteAdded(want, renewal);
    else if (!saysPresent(code)) this.#fail(set, this.#describe(set, code));
  }

  #noteAdded({ in: set, address }: Want, { timeout = Number.POSITIVE_INFINITY }: ElementChange): void {
    set.note(address, this.#now() + timeout);
    set.filled();
    this.#added.series({ set: formatSet(set.set) })(1);
  }

  #describe(set: FollowedSet, errno: number): SetFault {
    return describeSetError(set.set, errno, libc().errorName(errno));
  }

  #fail(set: FollowedSet, fault: SetFault): void {
    set.fail(fault, this.#now());
    this.#count(set, fault);
  }

  #failAll(wants: readonly Want[], text: string): void {
    if (this.#isClosed) return;
    for (const set of new Set(wants.map((want) => want.in))) this.#fail(set, { word: 'error', text });
  }

  #count(set: FollowedSet, { word }: SetFault): void {
    this.#failed.series({ set: formatSet(set.set), reason: word })(1);
  }

  async #closeSocket(): Promise<void> {
    const socket = this.#socket;
    this.#socket = undefined;
    await socket?.close();
  }

  /** @param count of numbers that follow each other */
  #takeSequence(count = 1): number {
    if (this.#sequence > MAX_SEQUENCE) this.#sequence = 0;
    const first = this.#sequence + 1;
    this.#sequence += count;
    return first;
  }

  /** @throws NetlinkError */
  async #ask(request: Uint8Array): Promise<readonly NetlinkMessage[]> {
    if (this.#isClosed) throw new NetlinkError('the server ends');
    this.#socket ??= this.#dependencies.open();
    try {
      return await this.#socket.exchange(request);
    } catch (error) {
      // Answers that come late would be taken for those of the next request.
      await this.#closeSocket();
      throw error;
    }
  }
}

let shared: RefCounted<NftSets> | undefined;

/** The sets of the machine, for all blocks and plans of the process; release them once. */
export function shareNftSets(dependencies: Omit<NftSetsDependencies, 'open'>): RefCounted<NftSets> {
  const open = () => new NetlinkSocket(NETLINK_NETFILTER);
  shared ??= new RefCounted(new NftSets({ ...dependencies, open }), async (sets) => {
    shared = undefined;
    await sets.close();
  });
  return shared.retain();
}
