/**
 * Protects a reader that gets packets faster than it can answer them: it drops packets of the clients that send the
 * most, before the kernel drops packets of any client.
 *
 * While the receive buffer is filling up, each batch has room for a few packets per client. Dropping a packet costs a
 * fifth of answering it, so the buffer soon empties. A client that asks no more than others notices nothing. If that is
 * not enough, the kernel drops most packets of the client.
 */
import { randomInt } from 'node:crypto';
import { BATCH_PACKETS } from '../socket/batch.ts';
import type { LimitedClient } from '../socket/client-filter.ts';
import { AF_INET } from '../socket/linux.ts';
import { FloodLimiter } from './flood-limiter.ts';

/** Packets of one client that are answered in one batch. */
const MAX_PER_CLIENT = 4;
/** This many packets of one client are a large part of a batch. */
const LARGE_PART = BATCH_PACKETS / 4;
const CLIENT_GROUPS = 1024;

/** The guarded socket. */
export interface GuardedSocket {
  /** Checks its receive buffer. */
  readonly isFillingUp: () => boolean;
  /** Makes the kernel limit exactly these clients. @returns false if it cannot */
  readonly limit: (clients: readonly LimitedClient[]) => boolean;
  /** Called when a client is limited to one packet in `share`. `client`: where its socket address begins. */
  readonly onLimited: (octets: Uint8Array, client: number, share: number) => void;
}

export class OverloadGuard {
  readonly #isFillingUp: () => boolean;
  readonly #limiter: FloodLimiter;
  /** With a known seed a client could choose an address of another client's group. */
  readonly #seed = randomInt(2 ** 31);
  /** Packets of this batch by group of clients. */
  readonly #taken = new Uint8Array(CLIENT_GROUPS);
  #isOverloaded = false;
  #groupsInBatch = 0;
  #now = 0;

  constructor({ isFillingUp, limit, onLimited }: GuardedSocket) {
    this.#isFillingUp = isFillingUp;
    this.#limiter = new FloodLimiter({ groups: CLIENT_GROUPS, limit, onLimited });
  }

  /** Whether a client is limited. Then call `review` even while no packets come. */
  get isLimiting(): boolean {
    return this.#limiter.isLimiting;
  }

  /** Releases clients that have stopped flooding. */
  review(now: number): void {
    this.#limiter.review(now);
  }

  /** Releases all clients. */
  end(): void {
    this.#limiter.end();
  }

  /** @param packets received now; if fewer than fit in a batch, the buffer is empty */
  beginBatch(packets: number, now: number): void {
    this.#now = now;
    if (packets < BATCH_PACKETS) {
      this.#isOverloaded = false;
      return;
    }
    this.#isOverloaded = this.#isFillingUp();
    if (!this.#isOverloaded) return;
    this.#taken.fill(0);
    this.#groupsInBatch = 0;
  }

  /** @param client where its socket address begins */
  admits(octets: Uint8Array, client: number): boolean {
    const isLimiting = this.#limiter.isLimiting;
    if (!this.#isOverloaded && !isLimiting) return true;
    const group = this.#computeGroup(octets, client);
    if (isLimiting) this.#limiter.count(group);
    if (!this.#isOverloaded) return true;
    const taken = this.#taken[group] ?? 0;
    this.#taken[group] = taken + 1;
    if (taken === 0 && ++this.#groupsInBatch === 2) this.#limiter.noteOthers(this.#now);
    if (taken === LARGE_PART) this.#limiter.strike(this.#now, group, octets, client);
    return taken < MAX_PER_CLIENT;
  }

  /** Groups clients by address: four octets after family and port, or sixteen after the flow label too. */
  #computeGroup(octets: Uint8Array, client: number): number {
    const isIpv4 = octets[client] === AF_INET;
    const end = client + (isIpv4 ? 8 : 24);
    let hash = this.#seed;
    for (let octet = client + (isIpv4 ? 4 : 8); octet < end; octet++) {
      hash = Math.imul(hash ^ (octets[octet] ?? 0), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    return hash & (CLIENT_GROUPS - 1);
  }
}
