/**
 * Resolves upstream servers given by name through this server, and keeps their addresses fresh.
 *
 * While a later look-up fails, the known addresses stay in use.
 */
import type { AbsoluteName } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { describeError } from '../base/describe-error.ts';
import type { Log } from '../base/log.ts';

export interface ResolvedName {
  /** IPv4 or IPv6, as text. */
  readonly addresses: readonly string[];
  /** Their lifetime in seconds. */
  readonly ttl: number;
}

/** Looks up the addresses of a name; rejects, or returns an empty list, if it has none now. */
export type ResolveName = (name: AbsoluteName) => Promise<ResolvedName>;

export interface NamedServersOptions {
  readonly resolveName: ResolveName;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the addresses of a name have changed. */
  readonly onChange: () => void;
}

const MIN_SECONDS = 5;
const MAX_SECONDS = 3600;

interface Follow {
  readonly name: AbsoluteName;
  addresses: readonly string[];
  timer: Timer | undefined;
  isOver: boolean;
}

export class NamedServers {
  readonly #options: NamedServersOptions;
  readonly #follows = new Map<AbsoluteName, Follow>();

  constructor(options: NamedServersOptions) {
    this.#options = options;
  }

  /** The addresses known for a name now. */
  findAddresses(name: AbsoluteName): readonly string[] {
    return this.#follows.get(name)?.addresses ?? [];
  }

  /** Resolves exactly these names from now on. */
  follow(names: ReadonlySet<AbsoluteName>): void {
    for (const [name, follow] of this.#follows) {
      if (names.has(name)) continue;
      follow.isOver = true;
      follow.timer?.cancel();
      this.#follows.delete(name);
    }
    for (const name of names) {
      if (this.#follows.has(name)) continue;
      const follow: Follow = { name, addresses: [], timer: undefined, isOver: false };
      this.#follows.set(name, follow);
      void this.#lookUp(follow);
    }
  }

  async #lookUp(follow: Follow): Promise<void> {
    const { resolveName, clock } = this.#options;
    let seconds = MIN_SECONDS;
    // Wait until the server that owns this is ready for queries.
    await Promise.resolve();
    try {
      const { addresses, ttl } = await resolveName(follow.name);
      if (follow.isOver) return;
      seconds = Math.min(Math.max(ttl, MIN_SECONDS), MAX_SECONDS);
      this.#take(follow, addresses);
    } catch (error) {
      if (follow.isOver) return;
      this.#report(follow, describeError(error));
    }
    follow.timer = clock.after(seconds * 1000, () => void this.#lookUp(follow));
  }

  #take(follow: Follow, addresses: readonly string[]): void {
    if (addresses.length === 0) {
      this.#report(follow, 'it has no address');
      return;
    }
    const sorted = [...addresses].sort();
    if (sorted.join() === follow.addresses.join()) return;
    follow.addresses = sorted;
    this.#options.onChange();
  }

  #report(follow: Follow, reason: string): void {
    const remains = follow.addresses.length === 0 ? 'none yet' : follow.addresses.join(', ');
    this.#options.log.warn('cannot look up an upstream server by its name', {
      name: follow.name,
      reason,
      remains,
    });
  }
}
