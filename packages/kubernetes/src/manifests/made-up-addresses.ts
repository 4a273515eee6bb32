/**
 * Assigns addresses to services without one in their manifest, as an API server would.
 *
 * An address is derived from the service's name, so that it is the same on every machine and after every restart. If two
 * names give the same address, the second takes the next free one. A service keeps its address.
 */
import { createHash } from 'node:crypto';
import type { ObjectKey } from '../objects/objects.ts';
import type { IpFamily } from './parse-manifest.ts';

/** The usual service ranges of test clusters: 10.96.0.0/12 and fd00:10:96::/108. */
const SIZE = 2 ** 20;

const WRITE: Readonly<Record<IpFamily, (index: number) => string>> = {
  IPv4: (index) => `10.${96 + (index >> 16)}.${(index >> 8) & 0xff}.${index & 0xff}`,
  // Groups are never zero, so the text is already canonical.
  IPv6: (index) => `fd00:10:96::${((index >> 16) + 1).toString(16)}:${((index & 0xffff) | 1).toString(16)}`,
};

export class MadeUpAddresses {
  readonly #given = new Map<string, string>();
  readonly #taken = new Set<string>();

  /** Drops the addresses of removed services, and addresses that a manifest now claims. */
  keepOnly(services: ReadonlySet<ObjectKey>, claimed: ReadonlySet<string>): void {
    for (const [slot, address] of this.#given) {
      const service = slot.slice(slot.indexOf(' ') + 1);
      if (services.has(service) && !claimed.has(address)) continue;
      this.#given.delete(slot);
      this.#taken.delete(address);
    }
  }

  /** @param claimed addresses set in manifests */
  allocateAddress(service: ObjectKey, family: IpFamily, claimed: ReadonlySet<string>): string {
    const slot = `${family} ${service}`;
    const known = this.#given.get(slot);
    if (known !== undefined) return known;
    const first = createHash('sha256').update(service).digest().readUInt32BE(0) % SIZE;
    for (let step = 0; step < SIZE; step += 1) {
      const address = WRITE[family]((first + step) % SIZE);
      if (claimed.has(address) || this.#taken.has(address)) continue;
      this.#given.set(slot, address);
      this.#taken.add(address);
      return address;
    }
    throw new RangeError(
      `no ${family} address left for service: ${service}. Name addresses in the manifests.`,
    );
  }
}
