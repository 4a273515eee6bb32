/**
 * The route of a Corefile's directive. Equal questions are merged, and each client gets its share of the queries in flight. A lost query
 * is sent again after the usual time of the server. Clients get replies with the flags of the server.
 *
 * EDNS options that servers may act on are passed on. Queries that do not ask for records go on as they came. With `-compat` all of them do,
 * each by itself.
 */

import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Answer, OwnEdns } from '../../chain/answer.ts';
import type { Query } from '../../chain/query.ts';
import type { RestoredDeviations } from '../../deviations/table.ts';
import type { Connect, TransportTerms } from '../../forward/connect.ts';
import { MAX_SEPARATE, profileOfCoreDns, TRANSPORT_OF_COREDNS } from '../../forward/coredns-profile.ts';
import {
  DEFAULT_FORWARD_PLAN,
  defaultRule,
  type ForwardPlan,
  type Policy,
} from '../../forward/forward-plan.ts';
import { extendedErrorOfFailure, type ForwardFailure } from '../../forward/forward-reply.ts';
import type { ForwardTally } from '../../forward/forward-tally.ts';
import type { ForwardQuestion, ForwardReply } from '../../forward/forwarder.ts';
import { describeFailure, findLocalAddress } from '../../forward/network-errors.ts';
import { readTlsTrust } from '../../forward/read-tls-trust.ts';
import type { FillConsumer } from '../../forward/reader-path/fill-ring.ts';
import { type PassedOnBy, writeReceived } from '../../forward/transport/query-message.ts';
import type { Transport, TransportProtocol } from '../../forward/transport/transport.ts';
import type { Upstream } from '../../forward/upstream/upstream.ts';
import { formatUpstream, type UpstreamAddress } from '../../forward/upstream-address.ts';
import { formatSocketAddress } from '../../socket/addresses.ts';
import { wholeRcodeOf } from '../../wire/edns.ts';
import { passedErrorsOf } from '../../wire/extended-error.ts';
import { isWithin, ROOT, toKey } from '../../wire/name.ts';
import { encodePassedOn } from '../../wire/passing-options.ts';
import { wantsAuthenticData } from '../../wire/query.ts';
import {
  type AbsoluteName,
  CLASS,
  type Edns,
  type Message,
  OPCODE,
  type ResourceRecord,
} from '../../wire/types.ts';
import type { ForwardMetrics } from './forward-metrics.ts';
import {
  findServers,
  type IsOurselves,
  openServer,
  type TapServer,
  type UpstreamPlace,
} from './open-upstreams.ts';
import type { ForwardDirective, ForwardUpstream } from './options.ts';
import type { ConnectEvents, RouteMethods, RouteServers } from './route.ts';

export interface DirectiveRouteOptions {
  readonly directive: ForwardDirective;
  /** The deviations in which servers are asked as by CoreDNS. */
  readonly restored: RestoredDeviations;
  readonly tally: ForwardTally;
  /** Whether a server from a file is this one, so that it is left out. Default: always false. */
  readonly isOurselves?: IsOurselves | undefined;
  /** Shows what goes to servers. Default: nothing does. */
  readonly tap?: TapServer | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

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

export class DirectiveRoute implements RouteMethods {
  readonly countsByServer = true;
  readonly keepsServers: boolean;
  readonly direct: RouteMethods['direct'];
  readonly #options: DirectiveRouteOptions;
  /** Whether servers get queries of our own for questions about records. */
  readonly #asksItself: boolean;
  /** By their addresses in the form of `Forwarder`. */
  #servers: ReadonlyMap<string, CountedServer> = new Map();
  #counts: ForwardMetrics | undefined;

  constructor(options: DirectiveRouteOptions) {
    this.#options = options;
    this.#asksItself = !options.restored.has('own-query');
    // What a tap shows belongs to the plan.
    this.keepsServers = !options.restored.has('reload-keeps-state') && options.tap === undefined;
    this.direct = {
      isUsable: () => true,
      believesDenials: () => true,
      observe: (reply, upstream) => this.#observe(reply, upstream),
    };
  }

  async findPlan(): Promise<ForwardPlan> {
    const { directive, isOurselves, log } = this.#options;
    const places = await findServers(directive, { isOurselves, log });
    const servers = places.map((place) => toServer(place, directive));
    this.#servers = new Map(servers.map((server) => [formatUpstream(server.address), server]));
    return planOf(this.#options, servers);
  }

  begin({ counts }: RouteServers): void {
    this.#counts = counts;
  }

  resolveName(): Promise<never> {
    return Promise.reject(new Error('servers of a directive have addresses'));
  }

  connect({ counts, onSwitch }: ConnectEvents, ...server: Parameters<Connect>): Transport {
    const text = formatUpstream(server[0]);
    const found = this.#servers.get(text);
    if (found === undefined || counts === undefined) throw new RangeError(`no transport to ${text}`);
    return openServer({ ...this.#options, place: found.place, counts, onSwitch }, ...server);
  }

  labelOf(server: string): string {
    return this.#servers.get(server)?.label ?? server;
  }

  listServers(): readonly string[] {
    return this.#options.directive.upstreams.map(describeUpstream);
  }

  answerLook(): Answer {
    return { kind: 'servfail' };
  }

  questionOf(query: Query): ForwardQuestion {
    const { directive } = this.#options;
    const question = { ...query.questionKey, name: query.question.name };
    if (this.#asksItself && asksForRecords(query)) {
      const options = encodePassedOn(query.edns?.options);
      return options === undefined ? question : { ...question, options };
    }
    const byClient = query.sender.transport === 'udp' ? 'udp' : 'only-tcp';
    return { ...question, asReceived: writeReceived(query, directive.preferUdp ? undefined : byClient) };
  }

  answerOf(query: Query, { asReceived }: ForwardQuestion, reply: ForwardReply): Answer | Promise<Answer> {
    if (reply.kind === 'failed') return this.#fail(reply, asReceived?.passedOnBy);
    this.#options.tally.observe(reply.milliseconds);
    query.noteMetadata('forward/upstream', this.labelOf(reply.upstream));
    return passOn(query, reply.message, asReceived !== undefined);
  }

  /** Counts a reply that a reader has taken. */
  #observe({ rcode, microseconds, clients }: FillConsumer, upstream: Upstream | undefined): void {
    if (upstream === undefined) return;
    const milliseconds = microseconds / 1000;
    for (let client = 0; client < clients; client += 1) this.#options.tally.observe(milliseconds);
    const { label = upstream.text, protocol = 'udp' } = this.#servers.get(upstream.text) ?? {};
    this.#counts?.asked(label, protocol, false);
    this.#counts?.replied(label, rcode, milliseconds);
  }

  async #fail({ reason, detail }: ForwardFailure, passedOnBy: PassedOnBy): Promise<Answer> {
    const { directive, tally } = this.#options;
    tally.noteFailure(reason);
    if (reason === 'overloaded') {
      this.#counts?.rejected();
      const { maxConcurrent } = directive;
      return {
        kind: 'overloaded',
        reason: maxConcurrent === 0 ? detail : `concurrent queries exceeded maximum ${maxConcurrent}`,
      };
    }
    const isNone = reason === 'down' || reason === 'loop' || reason === 'no-upstream';
    const extendedError = extendedErrorOfFailure(reason === 'no-upstream' ? 'down' : reason);
    const described = isNone ? 'no healthy proxies' : await this.#describe(detail, passedOnBy);
    return { kind: 'servfail', reason: described, ...(extendedError !== undefined && { extendedError }) };
  }

  /** @param detail `SERVER: CODE; SERVER: CODE`, or another text */
  async #describe(detail: string, passedOnBy: PassedOnBy): Promise<string> {
    const last = detail.split('; ').at(-1) ?? '';
    const found = [...this.#servers].find(([server]) => last.startsWith(`${server}: `));
    const [text, server] = found ?? ['', [...this.#servers.values()][0]];
    if (server === undefined) return detail;
    const { place } = server;
    const protocol = passedOnBy === 'only-tcp' ? 'tcp' : server.protocol;
    const code = found === undefined ? 'timeout' : last.slice(text.length + 2);
    return describeFailure({ protocol, peer: place, local: await findLocalAddress(place), code });
  }
}

/** A reply with the flags of the server. @param isAsSent whether AD stays even for clients that do not ask for it */
function passOn(query: Query, message: Message, isAsSent: boolean): Answer {
  const { header, answers, authorities, additionals, edns } = message;
  const { authoritative, truncated, recursionAvailable, recursionDesired, checkingDisabled } = header;
  // We always ask the server whether it has validated the answer, but not every client does (RFC 6840 section 5.8).
  const authenticData = header.authenticData && (isAsSent || wantsAuthenticData(query));
  const own = isAsSent ? undefined : (records: readonly ResourceRecord[]) => withNameAsAsked(query, records);
  return {
    kind: 'message',
    rcode: wholeRcodeOf(message),
    ...{ authoritative, truncated, recursionAvailable, authenticData, recursionDesired, checkingDisabled },
    answers: own?.(answers) ?? answers,
    authorities: own?.(authorities) ?? authorities,
    additionals,
    ...(edns !== undefined && query.edns !== undefined && { edns: ownEdnsOf(edns) }),
    passedErrors: passedErrorsOf(edns),
  };
}

/**
 * Records with the capitals of the client's name where their owner is that name, or a domain that it is in: the name was asked for in
 * lower case, so that one reply serves all clients.
 */
function withNameAsAsked(
  { question: { name: asked }, key }: Query,
  records: readonly ResourceRecord[],
): readonly ResourceRecord[] {
  if (asked === key) return records;
  return records.map((record) => {
    const { name } = record;
    if (name === ROOT || !isWithin(key, toKey(name))) return record;
    // Both are of equal length but for their capitals. What ends a name as text is a name too.
    return { ...record, name: asked.slice(-name.length) as AbsoluteName };
  });
}

function ownEdnsOf({ udpSize, dnssecOk, options }: Edns): OwnEdns {
  return { udpSize, dnssecOk, options };
}

function describeUpstream(upstream: ForwardUpstream): string {
  switch (upstream.kind) {
    case 'address':
      return formatSocketAddress(upstream);
    case 'name':
      return upstream.name;
    case 'file':
      return upstream.path;
  }
}

/** Whether a query asks for records. NOTIFY and questions about zones and servers do not. */
function asksForRecords({ question, header }: Query): boolean {
  const isOfRecords = question.class === CLASS.IN && (question.type < FIRST_META_TYPE || question.type > 255);
  return header.opcode === OPCODE.QUERY && isOfRecords;
}

function toServer(place: UpstreamPlace, directive: ForwardDirective): CountedServer {
  const address = toUpstreamAddress(place, directive);
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

function termsOf(directive: ForwardDirective, servers: readonly CountedServer[]): Partial<TransportTerms> {
  const { expire: idle, maxAge, maxIdleConnections, streams, tls, dohMethod } = directive;
  const { minConnections = 1, fallsBackToUdp = false } = streams ?? {};
  const isEncrypted = servers.some(({ place }) => place.scheme !== 'dns');
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

function planOf(
  { directive, restored }: DirectiveRouteOptions,
  servers: readonly CountedServer[],
): ForwardPlan {
  const { policy, failoverRcodes, maxConcurrent, admission, hedges = true, maxConnectAttempts } = directive;
  const { limits, timing } = DEFAULT_FORWARD_PLAN;
  const ours = {
    // The servers of a directive know the same names.
    timing: { ...timing, negativeWait: 0, ...(directive.hedges === true && { failover: 0 }) },
    // A server is down only if it has not replied at all. One question tests it; the others do not wait.
    failFast: true,
    hedging: hedges,
    hedgesAlways: directive.hedges === true,
  };
  const ofCoreDns = profileOfCoreDns({
    readTimeout: directive.readTimeout,
    attempts: maxConnectAttempts ?? ATTEMPTS_PER_SERVER * servers.length,
    health: { kind: 'checks', maxFails: directive.maxFails, check: directive.healthCheck },
    failsFast: directive.failsFast,
  });
  const separate = { ...limits, inFlight: MAX_SEPARATE, perClient: MAX_SEPARATE, queued: 0 };
  return {
    ...DEFAULT_FORWARD_PLAN,
    ...termsOf(directive, servers),
    rules: [defaultRule(servers.map(({ address }) => address))],
    policy: POLICIES[policy],
    tryNextOn: failoverRcodes,
    ...(restored.has('sends-again') || maxConnectAttempts !== undefined ? ofCoreDns : ours),
    merges: !restored.has('forward-equal-questions'),
    // The plugin `loop` detects loops.
    loopDetection: false,
    // Clients decide whether they trust the AD bit of servers, as in CoreDNS.
    trustsAd: true,
    passesOptions: true,
    limits: {
      ...(restored.has('shares-of-clients') ? separate : limits),
      ...(maxConcurrent > 0 && { inFlight: maxConcurrent, queued: 0 }),
      ...admission,
    },
  };
}
