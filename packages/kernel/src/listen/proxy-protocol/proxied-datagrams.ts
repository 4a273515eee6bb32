/**
 * Headers of the PROXY protocol in datagrams that the main thread receives, with the sessions that some proxies have: the first
 * datagram of a sender has a header and perhaps nothing else, and those that follow have none.
 */
import type { Clock } from '../../base/clock.ts';
import { formatSocketAddress } from '../../base/socket-address.ts';
import { decodeSocketAddress, type SocketAddress } from '../../socket/addresses.ts';
import { isHeaderOfDatagram } from './proxied-packets.ts';
import { NO_HEADER, ProxyHeaderReader } from './proxy-header.ts';
import { ProxyPolicies, type ProxyProtocolPlan, type ProxySessionsPlan } from './proxy-policy.ts';

/** A datagram without its header. `empty`: it was a header only. `rejected`: its header is malformed, or not wanted. */
export type ProxiedDatagram =
  | { readonly kind: 'query'; readonly query: Uint8Array; readonly client: SocketAddress }
  | { readonly kind: 'empty' }
  | { readonly kind: 'rejected' };

export class ProxiedDatagrams {
  readonly #policies: ProxyPolicies;
  readonly #header = new ProxyHeaderReader();
  readonly #sessions: ProxySessions | undefined;

  constructor(plan: ProxyProtocolPlan, clock: Pick<Clock, 'monotonic'>) {
    this.#policies = new ProxyPolicies(plan);
    this.#sessions = plan.sessions && new ProxySessions(plan.sessions, clock);
  }

  /** @param message changed by nobody */
  take(message: Uint8Array, sender: SocketAddress): ProxiedDatagram {
    const policy = this.#policies.findFor(sender);
    if (policy === 'skip') return { kind: 'query', query: message, client: sender };
    const header = this.#header;
    const length = header.read(message, 0, message.length);
    const isUsed = policy === 'use';
    if (length === NO_HEADER.NONE) {
      const client = isUsed ? this.#sessions?.find(sender) : undefined;
      return { kind: 'query', query: message, client: client ?? sender };
    }
    if (policy === 'reject' || !isHeaderOfDatagram(header, length)) return { kind: 'rejected' };
    const told = isUsed && header.source.length > 0 ? decodeSocketAddress(header.source.octets) : undefined;
    if (told !== undefined) this.#sessions?.note(sender, told);
    if (length === message.length && this.#sessions !== undefined) return { kind: 'empty' };
    return { kind: 'query', query: message.subarray(length), client: told ?? sender };
  }
}

/** The clients that proxies have told, by the addresses and ports that these send from. */
class ProxySessions {
  readonly #plan: ProxySessionsPlan;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** The sender that was silent for longest comes first. */
  readonly #bySender = new Map<string, { readonly client: SocketAddress; readonly until: number }>();

  constructor(plan: ProxySessionsPlan, clock: Pick<Clock, 'monotonic'>) {
    this.#plan = plan;
    this.#clock = clock;
  }

  note(sender: SocketAddress, client: SocketAddress): void {
    const { milliseconds, max } = this.#plan;
    const key = formatSocketAddress(sender);
    this.#bySender.delete(key);
    this.#bySender.set(key, { client, until: this.#clock.monotonic() + milliseconds });
    const [first = key] = this.#bySender.size > max ? this.#bySender.keys() : [];
    if (first !== key) this.#bySender.delete(first);
  }

  find(sender: SocketAddress): SocketAddress | undefined {
    const session = this.#bySender.get(formatSocketAddress(sender));
    if (session === undefined || this.#clock.monotonic() >= session.until) return undefined;
    this.note(sender, session.client);
    return session.client;
  }
}
