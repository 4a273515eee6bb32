/**
 * The servers of a rule as `Forwarder` asks them. It merges equal questions, and gives each client its share of the queries in
 * flight. It sends a lost query again after the usual time of the server. Reader threads may ask by themselves.
 *
 * Queries with EDNS options, and those that do not ask for records, go on as they came. With `-compat` all of them do, each by itself.
 */
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { DirectServers } from '../../chain/handler.ts';
import type { Query } from '../../chain/query.ts';
import type { Connect, TransportTerms } from '../../forward/connect.ts';
import { MAX_SEPARATE, profileOfCoreDns, TRANSPORT_OF_COREDNS } from '../../forward/coredns-profile.ts';
import {
  DEFAULT_FORWARD_PLAN,
  defaultRule,
  type ForwardPlan,
  type Policy,
} from '../../forward/forward-plan.ts';
import { extendedErrorOfFailure } from '../../forward/forward-reply.ts';
import type { ForwardTally } from '../../forward/forward-tally.ts';
import { Forwarder, type ForwardQuestion, type ForwardReply } from '../../forward/forwarder.ts';
import { describeFailure, findLocalAddress } from '../../forward/network-errors.ts';
import { readTlsTrust } from '../../forward/read-tls-trust.ts';
import { type PassedOnBy, writeReceived } from '../../forward/transport/query-message.ts';
import type { Transport, TransportProtocol } from '../../forward/transport/transport.ts';
import { formatUpstream, type UpstreamAddress } from '../../forward/upstream-address.ts';
import { formatSocketAddress } from '../../socket/addresses.ts';
import type { ExtendedErrorCode } from '../../wire/extended-error.ts';
import { wantsAuthenticData } from '../../wire/query.ts';
import { CLASS, type Message, OPCODE } from '../../wire/types.ts';
import type { ForwardMetrics } from './forward-metrics.ts';
import { openServer, type TapServer, type UpstreamPlace } from './open-upstreams.ts';
import type { ForwardDirective } from './options.ts';

export interface RuleServersOptions {
  readonly rule: ForwardDirective;
  readonly places: readonly UpstreamPlace[];
  /** Whether each query is sent on by itself, as in CoreDNS. */
  readonly isStrict: boolean;
  readonly counts: ForwardMetrics;
  readonly tally: ForwardTally;
  readonly tap: TapServer | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to below 1. */
  readonly random: () => number;
}

export type RuleOutcome =
  /** `server`: the address and port that replied. */
  | { readonly kind: 'reply'; readonly message: Message; readonly server: string }
  | {
      readonly kind: 'failed' | 'overloaded';
      readonly reason: string;
      readonly extendedError?: ExtendedErrorCode | undefined;
    };

/** Types from here to 255 are questions about zones and servers (RFC 6895 section 3.1). */
const FIRST_META_TYPE = 128;
const ATTEMPTS_PER_SERVER = 2;

const POLICIES: { readonly [Name in ForwardDirective['policy']]: Policy } = {
  random: 'random',
  round_robin: 'round-robin',
  sequential: 'sequential',
};

/** A server as it is asked and counted. */
interface CountedServer {
  readonly place: UpstreamPlace;
  /** In metrics: its address and port. */
  readonly label: string;
  readonly protocol: TransportProtocol;
  /** As `Forwarder` knows it. */
  readonly address: UpstreamAddress;
}

export class RuleServers {
  readonly forwarder: Forwarder;
  readonly #options: RuleServersOptions;
  /** By their addresses in the form of `Forwarder`. */
  readonly #peers: ReadonlyMap<string, CountedServer>;

  constructor(options: RuleServersOptions) {
    this.#options = options;
    const { rule, places, counts, clock, log, random } = options;
    const peers = places.map((place) => toPeer(place, rule));
    this.#peers = new Map(peers.map((peer) => [formatUpstream(peer.address), peer]));
    this.forwarder = new Forwarder(planOf(options, peers), {
      clock,
      log,
      random,
      resolveName: () => Promise.reject(new Error('servers of a rule have addresses')),
      connect: (...server) => this.#connect(...server),
      events: {
        probeFailed: (server) => counts.checkFailed(this.#peers.get(server)?.label ?? server),
        foundAllSilent: () => counts.allDown(),
      },
    });
    options.tally.follow(this.forwarder);
  }

  async ask(query: Query): Promise<RuleOutcome> {
    const question = this.#questionOf(query);
    const reply = await this.forwarder.resolve(question, { address: query.account });
    if (reply.kind === 'failed') return await this.#fail(reply, question.asReceived?.passedOnBy);
    const { message, milliseconds } = reply;
    this.#options.tally.observe(milliseconds);
    const server = this.#peers.get(reply.upstream)?.label ?? reply.upstream;
    if (question.asReceived?.keepsReply === true) return { kind: 'reply', message, server };
    // We always ask the server whether it has validated the answer, but not every client does (RFC 6840 section 5.8).
    const authenticData = message.header.authenticData && wantsAuthenticData(query);
    const header = { ...message.header, authenticData };
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

  #questionOf(query: Query): ForwardQuestion {
    const { rule, isStrict } = this.#options;
    const question = { ...query.questionKey, name: query.question.name };
    const isOfRecords = asksForRecords(query);
    if (!isStrict && isOfRecords && (query.edns?.options.length ?? 0) === 0) return question;
    const keepsReply = isStrict || !isOfRecords;
    const byClient = query.sender.transport === 'udp' ? 'udp' : 'only-tcp';
    const passedOnBy = keepsReply && !rule.preferUdp ? byClient : undefined;
    return { ...question, asReceived: writeReceived(query, passedOnBy, keepsReply) };
  }

  #connect(...server: Parameters<Connect>): Transport {
    const text = formatUpstream(server[0]);
    const peer = this.#peers.get(text);
    if (peer === undefined) throw new RangeError(`no transport to ${text}`);
    const onSwitch = () => this.forwarder.onRouteChange();
    return openServer({ ...this.#options, place: peer.place, onSwitch }, ...server);
  }

  async #fail(
    { reason, detail }: Extract<ForwardReply, { kind: 'failed' }>,
    passedOnBy: PassedOnBy,
  ): Promise<RuleOutcome> {
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
    const isNone = reason === 'down' || reason === 'loop' || reason === 'no-upstream';
    const extendedError = extendedErrorOfFailure(reason === 'no-upstream' ? 'down' : reason);
    if (isNone) return { kind: 'failed', reason: 'no healthy proxies', extendedError };
    return { kind: 'failed', reason: await this.#describe(detail, passedOnBy), extendedError };
  }

  /** @param detail `SERVER: CODE; SERVER: CODE`, or another text */
  async #describe(detail: string, passedOnBy: PassedOnBy): Promise<string> {
    const last = detail.split('; ').at(-1) ?? '';
    const found = [...this.#peers].find(([server]) => last.startsWith(`${server}: `));
    const [server, peer] = found ?? ['', [...this.#peers.values()][0]];
    if (peer === undefined) return detail;
    const { place } = peer;
    const protocol = passedOnBy === 'only-tcp' ? 'tcp' : peer.protocol;
    const code = found === undefined ? 'timeout' : last.slice(server.length + 2);
    return describeFailure({ protocol, peer: place, local: await findLocalAddress(place), code });
  }
}

/** Whether a query asks for records. NOTIFY and questions about zones and servers do not. */
function asksForRecords({ question, header }: Query): boolean {
  const isOfRecords = question.class === CLASS.IN && (question.type < FIRST_META_TYPE || question.type > 255);
  return header.opcode === OPCODE.QUERY && isOfRecords;
}

function toPeer(place: UpstreamPlace, rule: ForwardDirective): CountedServer {
  const address = toUpstreamAddress(place, rule);
  const protocol = address.transport === 'udp' ? 'udp' : 'tcp';
  return { place, label: formatSocketAddress(place), protocol, address };
}

function toUpstreamAddress(
  { scheme, address, port, serverName }: UpstreamPlace,
  { forceTcp, sourceAddress }: ForwardDirective,
): UpstreamAddress {
  return {
    transport: scheme === 'dns' ? (forceTcp ? 'tcp' : 'udp') : scheme,
    host: { kind: 'address', address },
    port,
    serverName,
    source:
      sourceAddress === undefined
        ? undefined
        : { address: sourceAddress, port: undefined, device: undefined },
  };
}

function termsOf({ rule, places }: RuleServersOptions): Partial<TransportTerms> {
  const { expire: idle, maxAge, maxIdleConnections, streams, tls, dohMethod } = rule;
  const { minConnections = 1, fallsBackToUdp = false } = streams ?? {};
  const isEncrypted = places.some(({ scheme }) => scheme !== 'dns');
  return {
    ...TRANSPORT_OF_COREDNS,
    streams: {
      ...{ idle, maxAge, minConnections },
      ...(maxIdleConnections > 0 && { maxConnections: maxIdleConnections }),
    },
    ...(isEncrypted && { tls: readTlsTrust(tls) }),
    ...{ fallsBackToUdp, httpsMethod: dohMethod },
  };
}

function planOf(options: RuleServersOptions, peers: readonly CountedServer[]): ForwardPlan {
  const { rule, isStrict } = options;
  const { policy, failoverRcodes, maxConcurrent, admission, hedges = true, maxConnectAttempts } = rule;
  const { limits, timing } = DEFAULT_FORWARD_PLAN;
  const ours = {
    // The servers of a rule know the same names.
    timing: { ...timing, negativeWait: 0, ...(rule.hedges === true && { failover: 0 }) },
    // A server is down only if it has not replied at all. One question tests it; the others do not wait.
    failFast: true,
    hedging: hedges,
    hedgesAlways: rule.hedges === true,
  };
  const ofCoreDns = profileOfCoreDns({
    readTimeout: rule.readTimeout,
    attempts: maxConnectAttempts ?? ATTEMPTS_PER_SERVER * peers.length,
    health: { kind: 'checks', maxFails: rule.maxFails, check: rule.healthCheck },
    failsFast: rule.failsFast,
  });
  const separate = { ...limits, inFlight: MAX_SEPARATE, perClient: MAX_SEPARATE, queued: 0 };
  return {
    ...DEFAULT_FORWARD_PLAN,
    ...termsOf(options),
    rules: [defaultRule(peers.map(({ address }) => address))],
    policy: POLICIES[policy],
    tryNextOn: failoverRcodes,
    ...(isStrict || maxConnectAttempts !== undefined ? ofCoreDns : ours),
    merges: !isStrict,
    // The plugin `loop` detects loops.
    loopDetection: false,
    // Clients decide whether they trust the AD bit of servers, as in CoreDNS.
    trustsAd: true,
    limits: {
      ...(isStrict ? separate : limits),
      ...(maxConcurrent > 0 && { inFlight: maxConcurrent, queued: 0 }),
      ...admission,
    },
  };
}
