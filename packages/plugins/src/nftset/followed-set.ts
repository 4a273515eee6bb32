/**
 * A set that gets addresses: what it takes, which addresses it has, and what is wrong with it.
 */
import type { OutageLog } from '@portolan/kernel/base/outage-log.ts';
import { EEXIST, ENFILE, ENOENT, ENOTEMPTY, EPERM } from '@portolan/kernel/socket/linux.ts';
import type { ElementChange, NftSetKind } from './nft-messages.ts';
import type { NftSet } from './options.ts';

/** Addresses that are remembered of a set. Those beyond it cost a system call each time. */
const MAX_ADDRESSES = 65_536;
/** Milliseconds between two looks at a set that cannot be filled. */
const RETRY = 1000;
/** Milliseconds that an element outlives its TTL: clients connect some time after they have asked. */
const GRACE = 60_000;

/** Why a set cannot be filled. A word for metrics, and a text for the log that ends with the remedy. */
export interface SetFault {
  readonly word: 'missing' | 'permission' | 'type' | 'full' | 'error';
  readonly text: string;
}

export function formatSet({ family, table, name }: NftSet): string {
  return `${family} ${table} ${name}`;
}

/** @param errno of a request about the set */
export function describeSetError(set: NftSet, errno: number, symbol: string): SetFault {
  switch (errno) {
    case ENOENT:
      return {
        word: 'missing',
        text: `no such table or set. Create it: nft add set ${formatSet(set)} '{ type ipv${set.only === 'ipv6' ? 6 : 4}_addr; flags timeout; }'`,
      };
    case EPERM:
      return { word: 'permission', text: 'not permitted. Run the server with the capability NET_ADMIN.' };
    case ENFILE:
      return { word: 'full', text: 'the set is full. Raise its size.' };
    default:
      return { word: 'error', text: `the kernel says ${symbol}` };
  }
}

const OTHER_KIND: SetFault = {
  word: 'type',
  text: 'its elements are not addresses. Name a set of type ipv4_addr or ipv6_addr that is no map and not constant.',
};

/** The kernel says that an address is there: by itself, or within an interval. */
export function saysPresent(errno: number): boolean {
  return errno === EEXIST || errno === ENOTEMPTY;
}

export class FollowedSet {
  readonly set: NftSet;
  readonly #outage: OutageLog;
  /** Undefined: not known. */
  #kind: Extract<NftSetKind, { readonly kind: 'addresses' }> | undefined;
  /** Until when the set has addresses, by their text: milliseconds of the monotonic clock. */
  readonly #ends = new Map<string, number>();
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(set: NftSet, outage: OutageLog) {
    this.set = set;
    this.#outage = outage;
  }

  get isInterval(): boolean {
    return this.#kind?.isInterval === true;
  }

  /** Whether its elements go after a time. */
  get hasTimeout(): boolean {
    return this.#kind?.hasTimeout === true;
  }

  /** Whether to ask for its kind. */
  isUnknown(now: number): boolean {
    return this.#kind === undefined && now - this.#failedAt >= RETRY;
  }

  /** Whether addresses of a family go into it. Undefined: not known. */
  takes(family: 'ipv4' | 'ipv6'): boolean | undefined {
    if (this.set.only !== undefined && this.set.only !== family) return false;
    return this.#kind && this.#kind.family === family;
  }

  /** @param until when the address must still be there */
  has(address: string, until: number): boolean {
    return (this.#ends.get(address) ?? Number.NEGATIVE_INFINITY) >= until;
  }

  /** How to put an address into it. @param octets 4 or 16 @param seconds that clients may use it */
  change(address: string, octets: Uint8Array, seconds: number): ElementChange {
    const { set, isInterval } = this;
    const timeout =
      this.#kind?.hasTimeout === true ? Math.max(seconds * 1000 + GRACE, this.#kind.timeout) : undefined;
    const way = this.#ends.has(address) ? 'renew' : 'add';
    return { set, isInterval, address: octets, timeout, way };
  }

  /** @param end when it goes; Infinity: it stays */
  note(address: string, end: number): void {
    this.#ends.delete(address);
    this.#ends.set(address, end);
    if (this.#ends.size <= MAX_ADDRESSES) return;
    const [oldest] = this.#ends.keys();
    if (oldest !== undefined) this.#ends.delete(oldest);
  }

  /** Somebody has changed the rules of the machine. */
  forget(): void {
    this.#kind = undefined;
    this.#ends.clear();
  }

  learn(kind: NftSetKind, now: number): SetFault | undefined {
    if (kind.kind === 'other') {
      this.fail(OTHER_KIND, now);
      return OTHER_KIND;
    }
    const { only } = this.set;
    if (only !== undefined && only !== kind.family) {
      const fault: SetFault = {
        word: 'type',
        text: `its type is ${kind.family}_addr. Write ${kind.family === 'ipv4' ? 4 : 6}# before it, or leave it out.`,
      };
      this.fail(fault, now);
      return fault;
    }
    this.#kind = kind;
    return undefined;
  }

  filled(): void {
    this.#outage.ended({ set: formatSet(this.set) });
  }

  fail(fault: SetFault, now: number): void {
    if (fault.word !== 'full') this.forget();
    this.#failedAt = now;
    this.#outage.failed(fault.word, { set: formatSet(this.set), reason: fault.text });
  }
}
