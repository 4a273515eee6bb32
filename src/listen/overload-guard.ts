/**
 * What a reader does when packets come faster than it answers them: it drops those of the clients that send the most, before the
 * kernel drops any, since the kernel does not ask whose they are.
 *
 * While the receive buffer is filling up, each batch has room for a few packets of a client. A packet that is dropped costs
 * a fifth of one that is answered, so the buffer is soon empty. A client that asks no more than others notices nothing.
 */
import { randomInt } from 'node:crypto';
import { BATCH_PACKETS } from '../socket/batch.ts';

/** Packets of one client that are answered in a batch. */
const MAX_PER_CLIENT = 4;
const CLIENT_GROUPS = 1024;
const AF_INET = 2;

export class OverloadGuard {
  readonly #isFillingUp: () => boolean;
  /** With a known seed a client could choose an address of another client's group. */
  readonly #seed = randomInt(2 ** 31);
  /** Packets of this batch by group of clients. */
  readonly #taken = new Uint8Array(CLIENT_GROUPS);
  #isOverloaded = false;

  /** @param isFillingUp looks at the receive buffer of the socket */
  constructor(isFillingUp: () => boolean) {
    this.#isFillingUp = isFillingUp;
  }

  /** @param packets received now; fewer than there is room for: nothing waits */
  beginBatch(packets: number): void {
    if (packets < BATCH_PACKETS) {
      this.#isOverloaded = false;
      return;
    }
    this.#isOverloaded = this.#isFillingUp();
    if (this.#isOverloaded) this.#taken.fill(0);
  }

  /** @param client where its socket address begins */
  admits(octets: Uint8Array, client: number): boolean {
    if (!this.#isOverloaded) return true;
    const group = this.#groupOf(octets, client);
    const taken = this.#taken[group] ?? 0;
    this.#taken[group] = taken + 1;
    return taken < MAX_PER_CLIENT;
  }

  /** By the address alone: four octets behind family and port, or sixteen behind the flow label too. */
  #groupOf(octets: Uint8Array, client: number): number {
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
