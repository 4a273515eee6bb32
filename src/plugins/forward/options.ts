/**
 * Questions that go to other servers: routes as data.
 */
import type { AdmissionLimits } from '../../forward/admission/admission.ts';
import type { ForwardPlan } from '../../forward/forward-plan.ts';
import { ROOT } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';
import type { FilteredTypes } from './filtered-types.ts';

export interface ForwardOptions {
  /** The first route that has the name is asked; if it passes the query on, the next such route. At least one. */
  readonly routes: readonly ForwardRoute[];
}

export type ForwardRoute = ForwardDirective | PlannedForward;

/** The names of a route, and the answers with which the next one is asked. */
interface ForwardScope {
  /** Names below it are forwarded. */
  readonly from: NameKey;
  /** Names below these are not forwarded. */
  readonly except: readonly NameKey[];
  /** Response codes with which the next route is asked. */
  readonly nextRcodes: readonly number[];
  /** An answer without data asks the next route too. */
  readonly nextOnNoData: boolean;
}

/** The route of our own front ends: one plan for all names. Replies are changed, bounded and cached by our own rules. */
export interface PlannedForward extends ForwardScope {
  readonly kind: 'plan';
  readonly plan: ForwardPlan;
  /** Types that clients do not get. The same for the life of the process: the names of a cluster lack them too. */
  readonly filteredTypes: FilteredTypes;
}

/** The route of a Corefile's directive. Clients get replies as servers send them. */
export interface ForwardDirective extends ForwardScope {
  readonly kind: 'directive';
  /** 1 to 15, in the order given. */
  readonly upstreams: readonly ForwardUpstream[];
  /** Queries go over TCP, whatever the client uses. */
  readonly forceTcp: boolean;
  /** Queries go over UDP first, and over TCP when the answer is truncated. */
  readonly preferUdp: boolean;
  /** Use of TCP that a Corefile cannot configure. Undefined: as in CoreDNS. */
  readonly streams?: ForwardStreams;
  /** How long an idle connection is kept: milliseconds. */
  readonly expire: number;
  /** Maximum age of a connection: milliseconds; 0: any age. */
  readonly maxAge: number;
  /** Idle connections to one upstream; 0: any number. */
  readonly maxIdleConnections: number;
  /** Milliseconds. */
  readonly readTimeout: number;
  /** An upstream is taken out after more consecutive failures than this; 0: it is never checked. */
  readonly maxFails: number;
  /** Connections tried for one query; 0: any number. Undefined: twice as many as upstreams. */
  readonly maxConnectAttempts: number | undefined;
  readonly tls: ForwardTls;
  readonly policy: 'random' | 'round_robin' | 'sequential';
  readonly healthCheck: ForwardHealthCheck;
  /** Maximum number of queries in flight, beyond which the answer is REFUSED; 0: any number. */
  readonly maxConcurrent: number;
  /** Response codes with which the next upstream is asked. */
  readonly failoverRcodes: readonly number[];
  /** Whether to answer SERVFAIL at once while no upstream is healthy, rather than to ask one anyway. */
  readonly failsFast: boolean;
  readonly dohMethod: 'POST' | 'GET';
  /** The address that queries are sent from. */
  readonly sourceAddress: string | undefined;
  /** Bounds in place of the default ones, from `portolan`. */
  readonly admission?: Partial<AdmissionLimits>;
  /** Whether to ask a second server before the first is overdue, from `portolan`. Undefined: unless the policy is `sequential`. */
  readonly hedges?: boolean;
  /** Servers that resolve upstreams given by name, as `address` or `address:port`; empty: those of the system. */
  readonly resolvers: readonly string[];
}

/** A plan for all names, as a route. */
export function planRoute(plan: ForwardPlan, filteredTypes: FilteredTypes): PlannedForward {
  return { kind: 'plan', from: ROOT, except: [], nextRcodes: [], nextOnNoData: false, plan, filteredTypes };
}

/** The routes of directives, in order. */
export function directivesOf({ routes }: ForwardOptions): readonly ForwardDirective[] {
  return routes.filter((route) => route.kind === 'directive');
}

/** The plan of our own front ends; undefined: the routes are those of directives. */
export function planIn({ routes }: ForwardOptions): ForwardPlan | undefined {
  return routes.find((route) => route.kind === 'plan')?.plan;
}

export interface ForwardStreams {
  /** Whether to use UDP for queries that must go over TCP while TCP does not work. */
  readonly fallsBackToUdp: boolean;
  /** Number of connections over which concurrent queries are spread, 1 to 4. */
  readonly minConnections: number;
}

export type ForwardScheme = 'dns' | 'tls' | 'https';

export type ForwardUpstream =
  | {
      readonly kind: 'address';
      readonly scheme: ForwardScheme;
      /** Without brackets, with a zone (`%eth0`) where one was given. */
      readonly address: string;
      readonly port: number;
      /** The name that its certificate must have, as given behind `%`. */
      readonly serverName: string | undefined;
    }
  | {
      /** Resolved at start. */
      readonly kind: 'name';
      readonly scheme: ForwardScheme;
      readonly name: string;
      readonly port: number;
      readonly serverName: string | undefined;
    }
  /** The name servers of a file in the form of resolv.conf. */
  | { readonly kind: 'file'; readonly path: string };

export interface ForwardTls {
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  /** A path, like `certificate` and `key`. Undefined: the certificate authorities of the system. */
  readonly authorities: string | undefined;
  /** The name that certificates of all upstreams must have. */
  readonly serverName: string | undefined;
}

export interface ForwardHealthCheck {
  /** Milliseconds between checks of an upstream that failed; 0: no checks. */
  readonly interval: number;
  readonly recursionDesired: boolean;
  /** The name asked for, with the type NS. */
  readonly domain: NameKey;
}
