/**
 * One server of a proxy: forwards queries unchanged, and checks the server's health after a query has failed.
 *
 * A failure starts a round of checks, which ends with the first reply. Only failed checks count: a server is down after
 * more of them than the rule allows, and up again after one reply.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import type { SocketAddress } from '../../socket/addresses.ts';
import { EXTENDED_ERROR, type ExtendedErrorCode } from '../../wire/extended-error.ts';
import { CLASS, type Message, type NameKey, OPCODE, TYPE } from '../../wire/types.ts';
import type { QueryMessage } from '../transport/query-message.ts';
import type { Transport } from '../transport/transport.ts';
import { messageOf, rcodeOf } from '../transport/upstream-reply.ts';
import { describeFailure, findLocalAddress, formatSocketAddress } from './network-errors.ts';
import { writeProxyQuery } from './proxy-query.ts';

export type ProxyProtocol = 'udp' | 'tcp';

export interface HealthCheck {
  /** Milliseconds between two checks of a round. */
  readonly interval: number;
  readonly recursionDesired: boolean;
  /** The name to query with type NS. */
  readonly domain: NameKey;
}

export interface ProxyUpstreamOptions {
  /** For messages and metrics. */
  readonly peer: SocketAddress;
  /** Encrypted transports are the same for both protocols. */
  readonly transports: Readonly<Record<ProxyProtocol, Transport>>;
  /** Milliseconds that a reply may take. */
  readonly readTimeout: number;
  readonly healthCheck: HealthCheck;
  /** The protocol of health checks. */
  readonly healthProtocol: ProxyProtocol;
  /** Milliseconds after which an idle connection counts as closed. */
  readonly expire: number;
  readonly events: ProxyEvents;
  readonly clock: Clock;
}

/** Events of a server, for metrics. `server`: its address and port. */
export interface ProxyEvents {
  /** @param isNew whether the query opened a connection, in terms of a proxy with one query per connection */
  asked(server: string, protocol: ProxyProtocol, isNew: boolean): void;
  replied(server: string, rcode: number, milliseconds: number): void;
  checkFailed(server: string): void;
}

export type ProxyReply =
  | { readonly kind: 'reply'; readonly message: Message }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly extendedError?: ExtendedErrorCode | undefined;
    };

/** Milliseconds that a check waits for its reply. */
const CHECK_TIMEOUT = 1000;
/** Octets of a query over UDP; larger ones use TCP. */
const MAX_UDP_QUERY = 512;

export class ProxyUpstream {
  readonly peer: SocketAddress;
  readonly #options: ProxyUpstreamOptions;
  readonly #check: QueryMessage;
  readonly #server: string;
  readonly #lastAsked = { udp: Number.NEGATIVE_INFINITY, tcp: Number.NEGATIVE_INFINITY };
  /** Our own address for messages: looked up when the first query fails. */
  #local: Promise<string> | undefined;
  #fails = 0;
  #isChecking = false;
  #isClosed = false;
  #timer: Timer | undefined;

  constructor(options: ProxyUpstreamOptions) {
    this.#options = options;
    this.peer = options.peer;
    this.#server = formatSocketAddress(options.peer);
    this.#check = writeCheck(options.healthCheck);
  }

  /** @param maxFails 0: it is never down */
  isDown(maxFails: number): boolean {
    return maxFails > 0 && this.#fails > maxFails;
  }

  /** @param udpOctets maximum of a reply over UDP; a larger one counts as truncated and empty */
  async ask(query: QueryMessage, wanted: ProxyProtocol, udpOctets: number): Promise<ProxyReply> {
    const { readTimeout, peer, clock, events } = this.#options;
    const askedAt = clock.monotonic();
    const protocol = query.octets.length > MAX_UDP_QUERY ? 'tcp' : wanted;
    this.#noteAsked(protocol, askedAt);
    const outcome = await this.#exchange(query, protocol, readTimeout, udpOctets);
    if (outcome.kind === 'reply') {
      events.replied(
        this.#server,
        rcodeOf({ kind: 'message', message: outcome.message }),
        clock.monotonic() - askedAt,
      );
      return outcome;
    }
    this.#local ??= findLocalAddress(peer);
    const local = await this.#local;
    const reason = describeFailure({ protocol, peer, local, code: outcome.reason });
    const isSilent = outcome.reason === 'timeout';
    const { NO_REACHABLE_AUTHORITY, NETWORK_ERROR } = EXTENDED_ERROR;
    return { kind: 'failed', reason, extendedError: isSilent ? NO_REACHABLE_AUTHORITY : NETWORK_ERROR };
  }

  /** Starts a round of checks unless one is running. */
  checkHealth(): void {
    if (this.#isChecking || this.#isClosed) return;
    this.#isChecking = true;
    void this.#runCheck();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const transport of new Set(Object.values(this.#options.transports))) transport.close();
  }

  #noteAsked(wanted: ProxyProtocol, now: number): void {
    const { events, expire } = this.#options;
    const protocol = this.#hasDatagrams ? wanted : 'tcp';
    events.asked(this.#server, protocol, now - this.#lastAsked[protocol] > expire);
    this.#lastAsked[protocol] = now;
  }

  /** Whether protocol UDP really uses UDP: encrypted transports are the same for both protocols. */
  get #hasDatagrams(): boolean {
    const { udp, tcp } = this.#options.transports;
    return udp !== tcp;
  }

  async #runCheck(): Promise<void> {
    const { healthProtocol, healthCheck, clock } = this.#options;
    const { kind } = await this.#exchange(this.#check, healthProtocol, CHECK_TIMEOUT, undefined);
    if (this.#isClosed) return;
    if (kind === 'reply') {
      this.#fails = 0;
      this.#isChecking = false;
      return;
    }
    this.#fails += 1;
    this.#options.events.checkFailed(this.#server);
    this.#timer = clock.after(healthCheck.interval, () => void this.#runCheck());
  }

  #exchange(
    query: QueryMessage,
    protocol: ProxyProtocol,
    timeout: number,
    udpOctets: number | undefined,
  ): Promise<ProxyReply> {
    const { transports, clock } = this.#options;
    return new Promise((resolve) => {
      const end = (reply: ProxyReply) => {
        timer.cancel();
        resolve(reply);
      };
      const timer = clock.after(timeout, () => {
        exchange.overdue();
        exchange.cancel();
        resolve({ kind: 'failed', reason: 'timeout' });
      });
      const exchange = transports[protocol].ask(query, {
        replied: (reply, octets = 0) => {
          const message = messageOf(reply);
          const isCut =
            protocol === 'udp' && this.#hasDatagrams && udpOctets !== undefined && octets > udpOctets;
          end({ kind: 'reply', message: isCut ? headOf(message) : message });
        },
        heard() {},
        failed: (reason) => end({ kind: 'failed', reason }),
      });
    });
  }
}

/** The message without its records (OPT included), with TC. */
function headOf({ header, questions }: Message): Message {
  const truncated = { ...header, truncated: true };
  return { header: truncated, questions, answers: [], authorities: [], additionals: [], edns: undefined };
}

function writeCheck({ recursionDesired, domain }: HealthCheck): QueryMessage {
  return writeProxyQuery({
    question: { name: domain, type: TYPE.NS, class: CLASS.IN },
    header: {
      ...{ id: 0, response: false, opcode: OPCODE.QUERY, rcode: 0 },
      ...{ authoritative: false, truncated: false, recursionAvailable: false },
      ...{ authenticData: false, checkingDisabled: false },
      recursionDesired,
    },
    edns: undefined,
  });
}
