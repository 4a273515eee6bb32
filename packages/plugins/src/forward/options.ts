/**
 * Questions that go to other servers: routes as data.
 */
import { ROOT } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { AdmissionLimits } from '@portolan/kernel/forward/admission/admission.ts';
import type { CoreDnsTerms } from '@portolan/kernel/forward/coredns-profile.ts';
import type { ForwardPlan } from '@portolan/kernel/forward/forward-plan.ts';
import type { HealthPolicy } from '@portolan/kernel/forward/upstream/health-checks.ts';
import type { FilteredTypes } from './filtered-types.ts';

export interface ForwardOptions {
  /** The first route that has the name is asked; if it passes the query on, the next such route. At least one. */
  readonly routes: readonly ForwardRoute[];
}

export interface ForwardRoute {
  /** Names below it are forwarded. */
  readonly from: NameKey;
  /** Names below these are not forwarded. */
  readonly except: readonly NameKey[];
  /** Response codes with which the next route is asked. */
  readonly nextRcodes: readonly number[];
  /** An answer without data asks the next route too. */
  readonly nextOnNoData: boolean;
  /** How servers are asked. Its rules are empty, and its trust in certificates is the default, if its servers are found at the start. */
  readonly plan: ForwardPlan;
  /** Servers that are found at the start; undefined: those of the plan. */
  readonly sources: ServerSources | undefined;
  readonly replies: ReplyForm;
}

/** What clients get, and what asks servers. */
export type ReplyForm =
  /** Replies are changed, bounded and cached by our own rules, and have our own flags. */
  | {
      readonly kind: 'own';
      /** Types that clients do not get. The same for the life of the process: the names of a cluster lack them too. */
      readonly filteredTypes: FilteredTypes;
    }
  /** Clients get replies as servers send them, as with CoreDNS. */
  | {
      readonly kind: 'as-sent';
      /** Queries that go on as they came go over UDP first, whatever the client uses. */
      readonly prefersUdp: boolean;
      /** Maximum number of queries in flight, beyond which the answer is REFUSED; 0: that of the plan. */
      readonly maxConcurrent: number;
    };

/** Where the servers of a route are found, and how CoreDNS would ask them. */
export interface ServerSources {
  /** 1 to 15, in the order given. */
  readonly upstreams: readonly ForwardUpstream[];
  /** Queries go over TCP, whatever the client uses. */
  readonly forceTcp: boolean;
  readonly tls: ForwardTls;
  /** The address that queries are sent from. */
  readonly sourceAddress: string | undefined;
  /** Servers that resolve upstreams given by name, as `address` or `address:port`; empty: those of the system. */
  readonly resolvers: readonly string[];
  /** In place of the terms of the plan where `sends-again` is restored. */
  readonly coreDns: Omit<CoreDnsTerms, 'attempts' | 'health'> & {
    readonly health: Extract<HealthPolicy, { readonly kind: 'checks' }>;
    /** Connections tried for one query; 0: any number. Undefined: twice as many as servers. */
    readonly attempts: number | undefined;
    /** Bounds in place of those of CoreDNS. */
    readonly limits: Partial<AdmissionLimits>;
  };
}

/** A plan for all names, as a route. */
export function planRoute(plan: ForwardPlan, filteredTypes: FilteredTypes): ForwardRoute {
  return {
    from: ROOT,
    except: [],
    nextRcodes: [],
    nextOnNoData: false,
    plan,
    sources: undefined,
    replies: { kind: 'own', filteredTypes },
  };
}

/** The route with other bounds of questions in flight. */
export function boundRoute(route: ForwardRoute, limits: Partial<AdmissionLimits>): ForwardRoute {
  const { plan, sources } = route;
  const coreDns = sources && { ...sources.coreDns, limits: { ...sources.coreDns.limits, ...limits } };
  return {
    ...route,
    plan: { ...plan, limits: { ...plan.limits, ...limits } },
    sources: sources && coreDns && { ...sources, coreDns },
  };
}

/**
 * The route that asks a second server before the first is overdue, or never does. Without it, a route does so unless its order is binding. A
 * query that ends with a failure, as in CoreDNS, has no second server.
 */
export function hedgeRoute(route: ForwardRoute, hedges: boolean): ForwardRoute {
  const { plan } = route;
  if (plan.retry.trigger === 'failure') return route;
  const timing = hedges ? { ...plan.timing, failover: 0 } : plan.timing;
  return { ...route, plan: { ...plan, timing, hedging: hedges, hedgesAlways: hedges } };
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
