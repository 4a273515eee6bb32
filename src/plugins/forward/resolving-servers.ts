/**
 * The servers of a rule as `Forwarder` asks them. It merges equal questions, and gives each client its share of the queries in
 * flight. It sends a lost query again after the usual time of the server. Reader threads may ask by themselves.
 *
 * `ProxyGroup` takes queries that `Forwarder` cannot carry, above all those with EDNS options, and servers over HTTPS.
 */
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { DirectServers } from '../../chain/handler.ts';
import type { Query } from '../../chain/query.ts';
import { type Connect, connectBySockets } from '../../forward/connect.ts';
import {
  DEFAULT_FORWARD_PLAN,
  defaultRule,
  type ForwardPlan,
  type Policy,
} from '../../forward/forward-plan.ts';
import { extendedErrorOfFailure } from '../../forward/forward-reply.ts';
import type { ForwardTally } from '../../forward/forward-tally.ts';
import { Forwarder, type ForwardReply } from '../../forward/forwarder.ts';
import {
  describeFailure,
  findLocalAddress,
  formatSocketAddress,
} from '../../forward/proxy/network-errors.ts';
import type { ProxyOutcome } from '../../forward/proxy/proxy-group.ts';
import type { ProxyProtocol } from '../../forward/proxy/proxy-upstream.ts';
import type { Exchange, ExchangeEvents, Transport } from '../../forward/transport/transport.ts';
import { rcodeOf } from '../../forward/transport/upstream-reply.ts';
import { formatUpstream, type UpstreamAddress } from '../../forward/upstream-address.ts';
import { CLASS, OPCODE } from '../../wire/types.ts';
import type { ForwardCounts } from './forward-metrics.ts';
import type { OpenedServer, TapServer, UpstreamPlace } from './open-upstreams.ts';
import type { ForwardRule } from './options.ts';

export interface ResolvingServersOptions {
  readonly rule: ForwardRule;
  /** At least one. */
  readonly servers: readonly OpenedServer[];
  /** Whether servers over UDP are asked from its own sockets, so that readers may ask them too. */
  readonly opensDatagrams: boolean;
  readonly tap?: TapServer | undefined;
  readonly counts: ForwardCounts;
  readonly tally: ForwardTally;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** Types from here to 255 are questions about zones and servers (RFC 6895 section 3.1). */
const FIRST_META_TYPE = 128;

const POLICIES: { readonly [Name in ForwardRule['policy']]: Policy } = {
  random: 'random',
  round_robin: 'round-robin',
  sequential: 'sequential',
};

/** Whether `Forwarder` supports all settings of a rule. */
export function canResolve({ maxConnectAttempts }: ForwardRule, places: readonly UpstreamPlace[]): boolean {
  const isKnown = places.every(({ scheme }) => scheme !== 'https');
  return places.length > 0 && isKnown && maxConnectAttempts === undefined;
}

/** A server as it is asked and counted. */
interface Peer extends OpenedServer {
  /** In metrics: its address and port. */
  readonly label: string;
  readonly protocol: ProxyProtocol;
  /** As `Forwarder` knows it. */
  readonly address: UpstreamAddress;
}

export class ResolvingServers {
  readonly forwarder: Forwarder;
  readonly #options: ResolvingServersOptions;
  /** By their addresses in the form of `Forwarder`. */
  readonly #peers: ReadonlyMap<string, Peer>;

  constructor(options: ResolvingServersOptions) {
    this.#options = options;
    const { rule, servers, counts, clock, log, random } = options;
    const peers = servers.map((server) => toPeer(server, rule));
    this.#peers = new Map(peers.map((peer) => [formatUpstream(peer.address), peer]));
    this.forwarder = new Forwarder(
      planOf(
        rule,
        peers.map(({ address }) => address),
      ),
      {
        clock,
        log,
        random,
        resolveName: () => Promise.reject(new Error('servers of a rule have addresses')),
        connect: (...server) => this.#connect(...server),
        events: {
          probeFailed: (server) => counts.checkFailed(this.#peers.get(server)?.label ?? server),
          foundAllSilent: () => counts.allDown(),
        },
      },
    );
    options.tally.follow(this.forwarder);
  }

  /** Whether a query asks for records, and has only its question and flags. NOTIFY goes on as it is. */
  accepts({ question, edns, header }: Query): boolean {
    const isOfRecords =
      question.class === CLASS.IN && (question.type < FIRST_META_TYPE || question.type > 255);
    return header.opcode === OPCODE.QUERY && isOfRecords && (edns === undefined || edns.options.length === 0);
  }

  async ask(query: Query): Promise<ProxyOutcome> {
    const question = { ...query.questionKey, name: query.question.name };
    const reply = await this.forwarder.resolve(question, { address: query.account });
    if (reply.kind === 'failed') return await this.#fail(reply);
    const { message, milliseconds } = reply;
    this.#options.tally.observe(milliseconds);
    // We always ask the server whether it has validated the answer, but not every client does (RFC 6840 section 5.8).
    const wantsAd = query.header.authenticData || query.edns?.dnssecOk === true;
    const authenticData = message.header.authenticData && wantsAd;
    const header = { ...message.header, authenticData };
    const server = this.#peers.get(reply.upstream)?.label ?? reply.upstream;
    return { kind: 'reply', message: { ...message, header }, server };
  }

  /** Counts a reply that a reader has taken. */
  countReply(...[server, rcode, milliseconds, clients]: Parameters<DirectServers['countReply']>): void {
    const { counts, tally } = this.#options;
    for (let client = 0; client < clients; client += 1) tally.observe(milliseconds);
    const { label = server, protocol = 'udp' } = this.#peers.get(server) ?? {};
    counts.asked(label, protocol, false);
    counts.replied(label, rcode, milliseconds);
  }

  stop(): void {
    this.#options.tally.leave(this.forwarder);
    this.forwarder.stop();
  }

  #connect(...[server, address, settings, clock]: Parameters<Connect>): Transport {
    const { rule, opensDatagrams, counts, tap } = this.#options;
    const text = formatUpstream(server);
    const peer = this.#peers.get(text);
    const { label = text, protocol = 'udp' } = peer ?? {};
    const opensOwn = peer === undefined || (protocol === 'udp' && opensDatagrams);
    const own = opensOwn ? connectBySockets(server, address, settings, clock) : undefined;
    const tapped = own !== undefined && peer !== undefined ? (tap?.(own, peer.place, protocol) ?? own) : own;
    const transport = tapped ?? peer?.transports[protocol];
    if (transport === undefined) throw new RangeError(`no transport to ${text}`);
    const { expire } = rule;
    return new CountedTransport(transport, { server: label, protocol, expire, counts, clock });
  }

  async #fail({ reason, detail }: Extract<ForwardReply, { kind: 'failed' }>): Promise<ProxyOutcome> {
    const { rule, counts, tally } = this.#options;
    tally.noteFailure(reason);
    if (reason === 'overloaded') {
      counts.rejected();
      const { maxConcurrent } = rule;
      return {
        kind: 'overloaded',
        reason: maxConcurrent === 0 ? detail : `concurrent queries exceeded maximum ${maxConcurrent}`,
      };
    }
    const extendedError = extendedErrorOfFailure(reason);
    if (reason === 'down' || reason === 'loop')
      return { kind: 'failed', reason: 'no healthy proxies', extendedError };
    return { kind: 'failed', reason: await this.#describe(detail), extendedError };
  }

  /** @param detail `SERVER: CODE; SERVER: CODE`, or another text */
  async #describe(detail: string): Promise<string> {
    const last = detail.split('; ').at(-1) ?? '';
    const found = [...this.#peers].find(([server]) => last.startsWith(`${server}: `));
    const [server, peer] = found ?? ['', [...this.#peers.values()][0]];
    if (peer === undefined) return detail;
    const { place, protocol } = peer;
    const code = found === undefined ? 'timeout' : last.slice(server.length + 2);
    return describeFailure({ protocol, peer: place, local: await findLocalAddress(place), code });
  }
}

function toPeer(server: OpenedServer, rule: ForwardRule): Peer {
  const { place } = server;
  const address = toUpstreamAddress(place, rule);
  const protocol = address.transport === 'udp' ? 'udp' : 'tcp';
  return { ...server, label: formatSocketAddress(place), protocol, address };
}

function toUpstreamAddress(
  { scheme, address, port, serverName }: UpstreamPlace,
  { forceTcp, sourceAddress }: ForwardRule,
): UpstreamAddress {
  return {
    transport: scheme === 'tls' ? 'tls' : forceTcp ? 'tcp' : 'udp',
    host: { kind: 'address', address },
    port,
    serverName,
    source:
      sourceAddress === undefined
        ? undefined
        : { address: sourceAddress, port: undefined, device: undefined },
  };
}

function planOf(rule: ForwardRule, addresses: readonly UpstreamAddress[]): ForwardPlan {
  const { policy, failoverRcodes, maxConcurrent, admission, hedges = true } = rule;
  const { limits, timing } = DEFAULT_FORWARD_PLAN;
  return {
    ...DEFAULT_FORWARD_PLAN,
    rules: [defaultRule(addresses)],
    policy: POLICIES[policy],
    tryNextOn: failoverRcodes,
    // A server is down only if it has not replied at all. One question tests it; the others do not wait.
    failFast: true,
    // The servers of a rule know the same names.
    timing: { ...timing, negativeWait: 0, ...(rule.hedges === true && { failover: 0 }) },
    // The plugin `loop` detects loops.
    loopDetection: false,
    // Clients decide whether they trust the AD bit of servers, as in CoreDNS.
    trustsAd: true,
    limits: { ...limits, ...(maxConcurrent > 0 && { inFlight: maxConcurrent, queued: 0 }), ...admission },
    hedging: hedges,
    hedgesAlways: rule.hedges === true,
  };
}

interface CountedOptions {
  readonly server: string;
  readonly protocol: ProxyProtocol;
  /** Milliseconds after which an idle connection counts as closed. */
  readonly expire: number;
  readonly counts: ForwardCounts;
  readonly clock: Clock;
}

/** Counts the main thread's queries to a server, and its replies. */
class CountedTransport implements Transport {
  readonly #transport: Transport;
  readonly #options: CountedOptions;
  #lastAsked = Number.NEGATIVE_INFINITY;

  constructor(transport: Transport, options: CountedOptions) {
    this.#transport = transport;
    this.#options = options;
  }

  get direct(): Transport['direct'] {
    return this.#transport.direct;
  }

  get isReliable(): boolean {
    return this.#transport.isReliable === true;
  }

  get dropped(): Transport['dropped'] {
    return this.#transport.dropped;
  }

  ask(query: Parameters<Transport['ask']>[0], events: ExchangeEvents): Exchange {
    const { server, protocol, expire, counts, clock } = this.#options;
    const askedAt = clock.monotonic();
    counts.asked(server, protocol, askedAt - this.#lastAsked > expire);
    this.#lastAsked = askedAt;
    return this.#transport.ask(query, {
      replied(reply, octets) {
        counts.replied(server, rcodeOf(reply), clock.monotonic() - askedAt);
        events.replied(reply, octets);
      },
      heard: () => events.heard(),
      failed: (code) => events.failed(code),
    });
  }

  close(): void {
    this.#transport.close();
  }
}
