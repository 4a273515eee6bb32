/**
 * `--local-service`: whether a client is in a network that this machine is connected to directly.
 */
import { BlockList } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { Interfaces } from '../../listen/local-addresses.ts';

/** How long the machine's networks are taken to stay as they are. */
const FRESH_MILLISECONDS = 5_000;

export class LocalNetworks {
  readonly #interfaces: () => Interfaces;
  readonly #clock: Clock;
  #networks = new BlockList();
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(interfaces: () => Interfaces, clock: Clock) {
    this.#interfaces = interfaces;
    this.#clock = clock;
  }

  /** @param address IPv4, or IPv6 that may end in a zone */
  includes(address: string): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#readAt > FRESH_MILLISECONDS) {
      this.#networks = readNetworks(this.#interfaces());
      this.#readAt = now;
    }
    const [plain = ''] = address.split('%');
    return this.#networks.check(plain, plain.includes(':') ? 'ipv6' : 'ipv4');
  }
}

function readNetworks(interfaces: Interfaces): BlockList {
  const networks = new BlockList();
  for (const { cidr, family } of Object.values(interfaces).flatMap((entries) => entries ?? [])) {
    const [network, prefix] = cidr?.split('/') ?? [];
    if (network === undefined || prefix === undefined) continue;
    networks.addSubnet(network, Number(prefix), family === 'IPv6' ? 'ipv6' : 'ipv4');
  }
  return networks;
}
