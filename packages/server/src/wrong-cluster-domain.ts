/**
 * Notices names of services in the domain of another cluster: `cart.shop.svc.corp.local`. If upstream servers deny them, kubelet probably
 * gives pods a cluster domain that this server does not serve, and the names of the cluster leak.
 */
import { isWithin } from '@portolan/dns/name.ts';
import { keyOfWire } from '@portolan/dns/name-wire.ts';
import { type NameKey, RCODE, type WireName } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';

/** Clients choose the domains: further ones are counted, but not named. */
const MAX_DOMAINS = 16;
/** Milliseconds after which a domain without a further denial is forgotten; negative answers are cached for less. */
const FORGOTTEN_AFTER = 600_000;
/** The label `svc` in wire format. */
const SVC = [3, 0x73, 0x76, 0x63] as const;

interface Denied {
  count: number;
  /** Milliseconds of the monotonic clock. */
  last: number;
}

export class WrongClusterDomains {
  readonly #clock: Clock;
  readonly #denied = new Map<NameKey, Denied>();
  #denials = 0;
  #own: readonly NameKey[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Denials since the start. */
  get denials(): number {
    return this.#denials;
  }

  /** Takes an answer that is now cached: `length` octets of its name, from `start` on. It runs for each one, so it allocates late. */
  observe(octets: Uint8Array, start: number, length: number, rcode: number): void {
    if (rcode !== RCODE.NXDOMAIN || this.#own.length === 0) return;
    const namespace = start + (octets[start] ?? 0) + 1;
    const svc = namespace + (octets[namespace] ?? 0) + 1;
    const end = start + length;
    if (svc + SVC.length + 1 >= end || SVC.some((octet, index) => octets[svc + index] !== octet)) return;
    const domain = keyOfWire(octets.slice(svc + SVC.length, end) as WireName);
    if (this.#own.some((own) => isWithin(domain, own))) return;
    this.#denials += 1;
    const now = this.#clock.monotonic();
    const known = this.#denied.get(domain);
    if (known !== undefined) {
      known.count += 1;
      known.last = now;
    } else if (this.#denied.size < MAX_DOMAINS) this.#denied.set(domain, { count: 1, last: now });
  }

  /**
   * The domains with the denials of each, of late.
   *
   * @param own the apexes of the cluster's zones, for all denials from now on. Without any, denials say nothing
   */
  besides(own: readonly NameKey[]): ReadonlyMap<string, number> {
    this.#own = own;
    const now = this.#clock.monotonic();
    for (const [domain, { last }] of this.#denied)
      if (now - last > FORGOTTEN_AFTER || own.some((apex) => isWithin(domain, apex)))
        this.#denied.delete(domain);
    return new Map(Array.from(this.#denied, ([domain, { count }]) => [domain, count]));
  }
}
