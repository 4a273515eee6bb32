/**
 * Forwarding as data: which names go to which servers, and how. Front ends make it, `Forwarder` executes it.
 */
import { ROOT } from '@portolan/dns/name.ts';
import { type NameKey, RCODE } from '@portolan/dns/types.ts';
import type { AdmissionLimits } from './admission/admission.ts';
import type { TransportTerms } from './connect.ts';
import type { HealthPolicy } from './upstream/health-checks.ts';
import type { ReplyTimeouts } from './upstream/round-trip.ts';
import { formatUpstream, type UpstreamAddress } from './upstream-address.ts';

/**
 * The order in which the servers of a group are asked. `fastest`: by measured round trips, and all of them now and
 * then. `all`: all at once, the first good reply wins.
 */
export type Policy = 'sequential' | 'random' | 'round-robin' | 'fastest' | 'all';

/** Policies whose order is binding: a later server is not asked just for being faster. */
const STRICT_POLICIES: ReadonlySet<Policy> = new Set(['sequential']);

export function isStrictlyOrdered(policy: Policy): boolean {
  return STRICT_POLICIES.has(policy);
}

/** The names of a rule. Longer matches win; of equal length `domain` wins over `ending`. */
export type RuleMatch =
  /** The name and all below it. */
  | { readonly kind: 'domain'; readonly name: NameKey }
  /** Names whose text has this ending, not only at label boundaries: dnsmasq's `*google.com`. In lower case, with the final dot. */
  | { readonly kind: 'ending'; readonly text: string }
  /** Names of one label. */
  | { readonly kind: 'unqualified' };

export interface UpstreamServer {
  readonly address: UpstreamAddress;
  /** Maximum of queries a second, above 0; undefined: unlimited. */
  readonly queriesPerSecond: number | undefined;
}

/** The servers for the names of a rule. */
export type ForwardTarget =
  | { readonly kind: 'servers'; readonly servers: readonly UpstreamServer[] }
  /** The names are answered locally only. */
  | { readonly kind: 'local-only' }
  /** The servers of the rule for the root: an exception from a broader rule. */
  | { readonly kind: 'default' };

export interface ForwardRule {
  readonly names: readonly RuleMatch[];
  readonly target: ForwardTarget;
}

/** When to send a question without a reply again. */
export interface RetryPolicy {
  /**
   * `timeout`: when a server is overdue. `client`: when a client repeats the question, as in dnsmasq; other servers are asked when one is
   * overdue, unless `scope` is `next`. `failure`: when a server has failed, or has not replied in its time, which ends the query, as in
   * CoreDNS.
   */
  readonly trigger: 'timeout' | 'client' | 'failure';
  /** For `failure`: maximum of queries that fail for one question. */
  readonly attempts?: number;
  /**
   * Milliseconds before the same server is asked again, if longer than its time-out. For `client`: the minimum between
   * two queries that count as a repeat.
   */
  readonly interval: number;
  /** The same after the server refused the port: it may be starting. */
  readonly refusedInterval: number;
  /** The servers for a client's repeat: the next in the order, or all. */
  readonly scope: 'next' | 'all';
}

/** Milliseconds throughout. */
export interface ForwardTiming extends ReplyTimeouts {
  /** From the arrival of a query to its answer, including time in the queue. A client's resolver waits 5 s. */
  readonly deadline: number;
  /** Until the next server is asked if the order is binding; half as long again as a server takes on average, if that is longer. */
  readonly failover: number;
  /**
   * How long a negative answer of a later server waits, counted from asking an earlier one, which may know the name. 0:
   * the first reply wins.
   */
  readonly negativeWait: number;
}

export interface ForwardPlan extends TransportTerms {
  readonly rules: readonly ForwardRule[];
  readonly policy: Policy;
  /** Response codes after which the next server is asked. */
  readonly tryNextOn: readonly number[];
  readonly timing: ForwardTiming;
  readonly retry: RetryPolicy;
  readonly health: HealthPolicy;
  /** Whether equal questions in flight are asked once. */
  readonly merges: boolean;
  /** Whether to ask a second server when the first is slower than usual. */
  readonly hedging: boolean;
  /** Whether to do so even if the order is binding, and for questions of reader threads, which then hand them over sooner. */
  readonly hedgesAlways: boolean;
  /**
   * Whether questions fail at once while all their servers are down, except for one that tests the servers. That one
   * also fails at once if the network has refused the servers for longer than a restart takes. With `checks`, all of them fail.
   */
  readonly failFast: boolean;
  /** Whether to test servers for forwarding loops. */
  readonly loopDetection: boolean;
  readonly limits: AdmissionLimits;
  /** Whether to trust the AD bit of the servers, and the path to them (RFC 4035 section 4.9.3). */
  readonly trustsAd: boolean;
  /** Whether questions of readers carry EDNS options of clients that servers may act on. */
  readonly passesOptions: boolean;
}

/** The defaults, without servers. */
export const DEFAULT_FORWARD_PLAN: ForwardPlan = {
  rules: [],
  policy: 'sequential',
  tryNextOn: [RCODE.SERVFAIL, RCODE.NOTIMP, RCODE.REFUSED],
  timing: {
    minTimeout: 50,
    maxTimeout: 2000,
    firstTimeout: 400,
    deadline: 4500,
    failover: 400,
    negativeWait: 1000,
  },
  retry: { trigger: 'timeout', interval: 0, refusedInterval: 200, scope: 'next' },
  health: { kind: 'passive' },
  merges: true,
  hedging: true,
  hedgesAlways: false,
  failFast: true,
  loopDetection: true,
  limits: { inFlight: 1500, perClient: 100, queued: 500, queueDeadline: 1000 },
  sourcePorts: { kind: 'any' },
  mixesCase: false,
  trustsAd: false,
  passesOptions: false,
  udpSize: 1232,
  ignoredAddresses: [],
  tls: { certificates: { authorities: undefined } },
};

/** A rule that sends all other names to these servers, in this order. */
export function defaultRule(addresses: readonly UpstreamAddress[]): ForwardRule {
  return {
    names: [{ kind: 'domain', name: ROOT }],
    target: {
      kind: 'servers',
      servers: addresses.map((address) => ({ address, queriesPerSecond: undefined })),
    },
  };
}

/** The servers of all rules, as texts, without duplicates. */
export function listServers({ rules }: ForwardPlan): readonly string[] {
  const servers = rules.flatMap(({ target }) => (target.kind === 'servers' ? target.servers : []));
  return [...new Set(servers.map(({ address }) => formatUpstream(address)))];
}

/** The plan without some servers. A rule whose servers are all left out stays, so that its names go to no other rule. */
export function withoutServers(plan: ForwardPlan, left: ReadonlySet<string>): ForwardPlan {
  if (left.size === 0) return plan;
  const isKept = ({ address }: UpstreamServer) => !left.has(formatUpstream(address));
  const rules = plan.rules.map(({ names, target }) => ({
    names,
    target: target.kind === 'servers' ? { ...target, servers: target.servers.filter(isKept) } : target,
  }));
  return { ...plan, rules };
}
