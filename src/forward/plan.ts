/**
 * What to forward where, as data: front ends make it, `Forwarder` follows it.
 */
import type { AddressRange } from '../wire/address-range.ts';
import { ROOT } from '../wire/name.ts';
import { type NameKey, RCODE } from '../wire/types.ts';
import type { UpstreamAddress } from './upstream-address.ts';

/**
 * In which order the servers of a group are asked. `fastest`: by the times that they were seen to take, all of them now and
 * then. `all`: all at once, the first good reply counts.
 */
export type Policy = 'sequential' | 'random' | 'round-robin' | 'fastest' | 'all';

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

/** Who answers the names of a rule. */
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

export interface ForwardLimits {
  /** Questions under way at once, equal ones counted once. */
  readonly inFlight: number;
  /** Of these, how many one client may have while fewer than a quarter is free. */
  readonly perClient: number;
  /** Questions that wait for their turn. */
  readonly queued: number;
  /** Milliseconds that they wait at most. */
  readonly queueDeadline: number;
}

/** Milliseconds throughout. */
export interface ForwardTiming {
  /** From a question to its answer, or to giving up. A client's resolver waits 5 s. */
  readonly deadline: number;
  /** The bounds of what a server is given to reply, and what it is given before its speed is known. */
  readonly leastTimeout: number;
  readonly mostTimeout: number;
  readonly firstTimeout: number;
}

/** UDP ports that queries are sent from. */
export type SourcePorts =
  | { readonly kind: 'any' }
  | { readonly kind: 'range'; readonly least: number; readonly most: number }
  | { readonly kind: 'fixed'; readonly port: number };

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
  /** Whether a second server is asked when the first is slower than usual, before its time is up. */
  readonly hedging: boolean;
  /** Whether servers are tested for sending our queries back to us. */
  readonly loopDetection: boolean;
  readonly limits: ForwardLimits;
  readonly sourcePorts: SourcePorts;
  /** Octets of a reply that we take over UDP, 512 to 65535. */
  readonly udpSize: number;
  /** A reply over UDP with an address of these is waited past: somebody on the way forges such, and the true one follows. */
  readonly ignoredAddresses: readonly AddressRange[];
  readonly tls: TlsTrust;
}

/** What holds where nothing is configured; there are no servers in it. */
export const DEFAULT_FORWARD_PLAN: ForwardPlan = {
  rules: [],
  policy: 'sequential',
  tryNextOn: [RCODE.SERVFAIL, RCODE.REFUSED],
  timing: { deadline: 4500, leastTimeout: 100, mostTimeout: 2000, firstTimeout: 400 },
  hedging: true,
  loopDetection: true,
  limits: { inFlight: 1500, perClient: 100, queued: 1500, queueDeadline: 1000 },
  sourcePorts: { kind: 'any' },
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
