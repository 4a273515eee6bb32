/**
 * Addresses of host names of load balancers, by the resolver of the system, as in the original.
 */
import { Resolver } from 'node:dns/promises';

/** Milliseconds that a server has for a reply. With two tries it is less than the 5 s that a plugin has. */
const TIMEOUT = 1_500;
/** Seconds. */
const MIN_TTL = 5;
const MAX_TTL = 60;
/** Hosts are those of objects of the cluster, not of questions. */
const MAX_HOSTS = 10_000;

interface KeptAddresses {
  readonly addresses: Promise<readonly string[]>;
  until: number;
}

export interface HostResolver {
  resolve4(host: string, options: { ttl: true }): Promise<readonly { address: string; ttl: number }[]>;
  resolve6(host: string, options: { ttl: true }): Promise<readonly { address: string; ttl: number }[]>;
  cancel(): void;
}

export class HostAddresses {
  readonly #resolver: HostResolver;
  readonly #now: () => number;
  readonly #kept = new Map<string, KeptAddresses>();

  /** @param now milliseconds */
  constructor(
    resolver: HostResolver = new Resolver({ timeout: TIMEOUT, tries: 2 }),
    now: () => number = () => performance.now(),
  ) {
    this.#resolver = resolver;
    this.#now = now;
  }

  /** Empty if it has none, or its servers do not answer. */
  async of(host: string): Promise<readonly string[]> {
    const known = this.#kept.get(host);
    if (known !== undefined && known.until > this.#now()) return await known.addresses;
    const kept: KeptAddresses = {
      addresses: this.#ask(host, (ttl) => this.#keepFor(kept, ttl)),
      until: Infinity,
    };
    this.#kept.delete(host);
    this.#kept.set(host, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_HOSTS && oldest !== undefined) this.#kept.delete(oldest);
    return await kept.addresses;
  }

  stop(): void {
    this.#resolver.cancel();
    this.#kept.clear();
  }

  async #ask(host: string, answered: (ttl: number) => void): Promise<readonly string[]> {
    const replies = await Promise.allSettled([
      this.#resolver.resolve4(host, { ttl: true }),
      this.#resolver.resolve6(host, { ttl: true }),
    ]);
    const records = replies.flatMap((reply) => (reply.status === 'fulfilled' ? reply.value : []));
    answered(Math.min(...records.map(({ ttl }) => ttl)));
    return records.map(({ address }) => address);
  }

  #keepFor(kept: KeptAddresses, ttl: number): void {
    const seconds = Number.isFinite(ttl) ? Math.min(Math.max(ttl, MIN_TTL), MAX_TTL) : MIN_TTL;
    kept.until = this.#now() + seconds * 1000;
  }
}
