/**
 * The servers of one proxy rule: chooses the server for each query, and fails over to the next.
 *
 * Queries share neither replies nor retries: each is forwarded separately, and its reply is returned unchanged.
 */
import type { Clock } from '../../base/clock.ts';
import { EXTENDED_ERROR, type ExtendedErrorCode } from '../../wire/extended-error.ts';
import type { Message } from '../../wire/types.ts';
import { formatSocketAddress } from './network-errors.ts';
import { type ProxyQuestion, udpReplyOctets, writeProxyQuery } from './proxy-query.ts';
import type { ProxyProtocol, ProxyReply, ProxyUpstream } from './proxy-upstream.ts';

export type ProxyPolicy = 'random' | 'round_robin' | 'sequential';

export interface ProxyRule {
  readonly policy: ProxyPolicy;
  /** A server with more failed checks in a row than this is down; 0: servers are never checked. */
  readonly maxFails: number;
  /** Maximum of concurrent queries; 0: unlimited. */
  readonly maxConcurrent: number;
  /** Maximum of servers tried for one query; 0: unlimited. Undefined: twice the number of servers. */
  readonly maxConnectAttempts: number | undefined;
  /** Response codes after which the next server is asked. */
  readonly failoverRcodes: readonly number[];
  /** Whether a query fails at once while all servers are down, instead of trying a random one. */
  readonly failsFast: boolean;
  readonly forceTcp: boolean;
  readonly preferUdp: boolean;
}

export interface ProxyGroupOptions {
  readonly rule: ProxyRule;
  /** At least one. */
  readonly upstreams: readonly ProxyUpstream[];
  readonly clock: Clock;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Called when a query finds all servers down. */
  readonly onAllDown: () => void;
  /** Called when a query is refused because there are too many. */
  readonly onRejected: () => void;
}

export type ProxyOutcome =
  /** `server`: the address and port that replied. */
  | { readonly kind: 'reply'; readonly message: Message; readonly server: string }
  /** `reason`: the error of the last server that failed. */
  | {
      readonly kind: 'failed' | 'overloaded';
      readonly reason: string;
      readonly extendedError?: ExtendedErrorCode | undefined;
    };

/** Milliseconds after which it tries no more servers. */
const DEADLINE = 5000;
const ATTEMPTS_PER_UPSTREAM = 2;
const NO_HEALTHY: ProxyOutcome = {
  kind: 'failed',
  reason: 'no healthy proxies',
  extendedError: EXTENDED_ERROR.NO_REACHABLE_AUTHORITY,
};

export class ProxyGroup {
  readonly #options: ProxyGroupOptions;
  readonly #failoverRcodes: ReadonlySet<number>;
  #running = 0;
  #turn = 0;

  constructor(options: ProxyGroupOptions) {
    this.#options = options;
    this.#failoverRcodes = new Set(options.rule.failoverRcodes);
  }

  /** @param protocol of the client */
  async ask(question: ProxyQuestion, protocol: ProxyProtocol): Promise<ProxyOutcome> {
    const { maxConcurrent } = this.#options.rule;
    if (maxConcurrent > 0 && this.#running >= maxConcurrent) {
      this.#options.onRejected();
      return { kind: 'overloaded', reason: `concurrent queries exceeded maximum ${maxConcurrent}` };
    }
    this.#running += 1;
    try {
      return await this.#ask(question, protocol);
    } finally {
      this.#running -= 1;
    }
  }

  close(): void {
    for (const upstream of this.#options.upstreams) upstream.close();
  }

  async #ask(question: ProxyQuestion, client: ProxyProtocol): Promise<ProxyOutcome> {
    const { rule, clock } = this.#options;
    const search = this.#search();
    const deadline = clock.monotonic() + DEADLINE;
    const maxAttempts = rule.maxConnectAttempts ?? ATTEMPTS_PER_UPSTREAM * this.#options.upstreams.length;
    let [attempts, failovers] = [0, 0];
    let failed = NO_HEALTHY;
    while (clock.monotonic() < deadline) {
      const upstream = search.next();
      if (upstream === undefined) return failed;
      const reply = await this.#askOne(upstream, question, client);
      if (reply.kind === 'failed') {
        failed = reply;
        if (rule.maxFails > 0) upstream.checkHealth();
        attempts += 1;
        if (attempts === maxAttempts || search.isExhausted) return failed;
        continue;
      }
      if (this.#failoverRcodes.has(rcodeOf(reply.message))) {
        failovers += 1;
        if (failovers < this.#options.upstreams.length) continue;
      }
      return { kind: 'reply', message: reply.message, server: formatSocketAddress(upstream.peer) };
    }
    return failed;
  }

  /** Iterates over the servers in one order, again and again. */
  #search(): { next(): ProxyUpstream | undefined; readonly isExhausted: boolean } {
    const { rule, upstreams, random } = this.#options;
    const list = this.#order();
    let [place, down] = [0, 0];
    const next = (): ProxyUpstream | undefined => {
      for (;;) {
        if (place >= list.length) [place, down] = [0, 0];
        const upstream = list[place];
        place += 1;
        if (upstream?.isDown(rule.maxFails) !== true) return upstream;
        down += 1;
        if (down < upstreams.length) continue;
        this.#options.onAllDown();
        // Perhaps only the checks fail.
        return rule.failsFast ? undefined : upstreams[Math.floor(random() * upstreams.length)];
      }
    };
    return {
      next,
      get isExhausted() {
        return down >= upstreams.length;
      },
    };
  }

  #order(): readonly ProxyUpstream[] {
    const { rule, upstreams, random } = this.#options;
    if (rule.policy === 'sequential' || upstreams.length === 1) return upstreams;
    if (rule.policy === 'random') return shuffle(upstreams, random);
    this.#turn = (this.#turn + 1) % upstreams.length;
    const first = upstreams[this.#turn];
    return [...(first === undefined ? [] : [first]), ...upstreams.filter((other) => other !== first)];
  }

  async #askOne(
    upstream: ProxyUpstream,
    question: ProxyQuestion,
    client: ProxyProtocol,
  ): Promise<ProxyReply> {
    const { forceTcp, preferUdp } = this.#options.rule;
    const query = writeProxyQuery(question);
    const protocol = forceTcp ? 'tcp' : preferUdp ? 'udp' : client;
    const octets = udpReplyOctets(question);
    const reply = await upstream.ask(query, protocol, octets);
    const isCut = reply.kind === 'reply' && reply.message.header.truncated;
    return isCut && preferUdp && !forceTcp ? upstream.ask(query, 'tcp', octets) : reply;
  }
}

function rcodeOf({ header, edns }: Message): number {
  return header.rcode | ((edns?.extendedRcode ?? 0) << 4);
}

/** A random permutation (Fisher and Yates). */
function shuffle<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  const shuffled = [...items];
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const [one, two] = [shuffled[last], shuffled[other]];
    if (one === undefined || two === undefined) continue;
    shuffled[last] = two;
    shuffled[other] = one;
  }
  return shuffled;
}
