/**
 * What is forwarded where and how, as data: front ends make it, `Forwarder` follows it.
 */
import type { AddressRange } from '../wire/address-range.ts';
import { ROOT } from '../wire/name.ts';
import { type NameKey, RCODE } from '../wire/types.ts';
import type { AdmissionLimits } from './admission/admission.ts';
import type { SourcePorts } from './transport/udp-transport.ts';
import type { ReplyTimeouts } from './upstream/round-trip.ts';
import type { UpstreamAddress } from './upstream-address.ts';

/**
 * In which order the servers of a group are asked. `fastest`: by the times that they were seen to take, all of them now and
 * then. `all`: all at once, the first good reply counts.
 */
export type Policy = 'sequential' | 'random' | 'round-robin' | 'fastest' | 'all';

/** The policies whose order of servers has a meaning: a later server is not asked for being faster. */
const STRICT_POLICIES: ReadonlySet<Policy> = new Set(['sequential']);

export function isStrictlyOrdered(policy: Policy): boolean {
  return STRICT_POLICIES.has(policy);
}

/** Which names a rule is for. Longer matches win; of equal length `domain` wins over `ending`. */
export type NameMatch =
  /** The name and all below it. */
  | { readonly kind: 'domain'; readonly name: NameKey }
  /** Names whose text ends so, wherever a label begins: dnsmasq's `*google.com`. In lower case, with the final dot. */
  | { readonly kind: 'ending'; readonly text: string }
  /** Names of one label. */
  | { readonly kind: 'unqualified' };

export interface UpstreamServer {
  readonly address: UpstreamAddress;
  /** Queries a second that it may be sent, above 0; undefined: as many as come. */
  readonly queriesPerSecond: number | undefined;
}

/** Which servers answer the names of a rule. */
export type ForwardTarget =
  | { readonly kind: 'servers'; readonly servers: readonly UpstreamServer[] }
  /** The names are answered locally or not at all. */
  | { readonly kind: 'local-only' }
  /** The servers of the rule for the root: an exception from a rule that matches more. */
  | { readonly kind: 'default' };

export interface ForwardRule {
  readonly names: readonly NameMatch[];
  readonly target: ForwardTarget;
}

/** When a question without a reply is sent again. */
export interface RetryPolicy {
  /** `timeout`: when a server is overdue. `client`: when a client asks the same again, as dnsmasq does. */
  readonly trigger: 'timeout' | 'client';
  /**
   * Milliseconds before the same server is asked the same question again, if that is longer than it is given for a reply; for
   * `client`, between two queries that count as a repeat.
   */
  readonly interval: number;
  /** The same for a server whose port was refused: it may be starting. */
  readonly refusedInterval: number;
  /** Which servers a client's repeat is sent to: the next in the order, or all. */
  readonly scope: 'next' | 'all';
}

/** Milliseconds throughout. */
export interface ForwardTiming extends ReplyTimeouts {
  /** From the arrival of a query to its answer, time in the queue included. A client's resolver waits 5 s. */
  readonly deadline: number;
  /** Until the next server is asked where their order has a meaning; the time that a server is given for a reply, if that is longer. */
  readonly failover: number;
  /**
   * From asking a server to believing the negative answer of one that was asked later: the first may know a name that the second
   * does not. 0: whichever reply comes first counts.
   */
  readonly negativeWait: number;
}

export interface TlsTrust {
  /** Certificates in PEM form to trust, instead of those that Node brings. */
  readonly authorities: readonly string[] | undefined;
}

export interface ForwardPlan {
  readonly rules: readonly ForwardRule[];
  readonly policy: Policy;
  /** Response codes that make the next server be asked. */
  readonly tryNextOn: readonly number[];
  readonly timing: ForwardTiming;
  readonly retry: RetryPolicy;
  /** Whether a second server is asked when the first is slower than usual. Never where the order of servers is strict. */
  readonly hedging: boolean;
  /**
   * Whether questions fail at once while all servers for them are down, but for one that tests the servers; and that one, where the
   * network has refused them for longer than a restart takes.
   */
  readonly failFast: boolean;
  /** Whether servers are tested for sending our queries back to us. */
  readonly loopDetection: boolean;
  readonly limits: AdmissionLimits;
  readonly sourcePorts: SourcePorts;
  /** Whether names are sent in random case to servers that repeat it (0x20). */
  readonly mixesCase: boolean;
  /** Whether the servers are trusted to have validated what they mark with AD, and the path to them too (RFC 4035 section 4.9.3). */
  readonly trustsAd: boolean;
  /** Octets of a reply that we take over UDP, 512 to 65535. */
  readonly udpSize: number;
  /** A reply over UDP with an address of these is waited past: a forger on the way sends such replies, and the true one follows. */
  readonly ignoredAddresses: readonly AddressRange[];
  readonly tls: TlsTrust;
}

/** What holds where nothing is configured; there are no servers in it. */
export const DEFAULT_FORWARD_PLAN: ForwardPlan = {
  rules: [],
  policy: 'sequential',
  tryNextOn: [RCODE.SERVFAIL, RCODE.NOTIMP, RCODE.REFUSED],
  timing: {
    ...{ minTimeout: 50, maxTimeout: 2000, firstTimeout: 400 },
    ...{ deadline: 4500, failover: 400, negativeWait: 1000 },
  },
  retry: { trigger: 'timeout', interval: 0, refusedInterval: 200, scope: 'next' },
  hedging: true,
  failFast: true,
  loopDetection: true,
  limits: { inFlight: 1500, perClient: 100, queued: 1500, queueDeadline: 1000 },
  sourcePorts: { kind: 'any' },
  mixesCase: false,
  trustsAd: false,
  udpSize: 1232,
  ignoredAddresses: [],
  tls: { authorities: undefined },
};

/** A rule that sends all names that no other rule matches to these servers, in this order. */
export function defaultRule(addresses: readonly UpstreamAddress[]): ForwardRule {
  return {
    names: [{ kind: 'domain', name: ROOT }],
    target: {
      kind: 'servers',
      servers: addresses.map((address) => ({ address, queriesPerSecond: undefined })),
    },
  };
}
