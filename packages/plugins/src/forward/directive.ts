/**
 * A `forward` of a Corefile as it is written, and the route that it means.
 */
import { profileOfCoreDns, TRANSPORT_OF_COREDNS } from '@portolan/kernel/forward/coredns-profile.ts';
import {
  DEFAULT_FORWARD_PLAN,
  type ForwardPlan,
  type Policy,
} from '@portolan/kernel/forward/forward-plan.ts';
import type { HealthCheck } from '@portolan/kernel/forward/upstream/health-checks.ts';
import type { ForwardRoute, ForwardTls, ServerSources } from './options.ts';

export interface ForwardDirective
  extends Pick<ForwardRoute, 'from' | 'except' | 'nextRcodes' | 'nextOnNoData'>,
    Pick<ServerSources, 'upstreams' | 'forceTcp' | 'sourceAddress' | 'resolvers'> {
  /** Queries go over UDP first, and over TCP when the answer is truncated. */
  readonly preferUdp: boolean;
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
  /** `interval` 0: no checks. */
  readonly healthCheck: HealthCheck;
  /** Maximum number of queries in flight, beyond which the answer is REFUSED; 0: any number. */
  readonly maxConcurrent: number;
  /** Response codes with which the next upstream is asked. */
  readonly failoverRcodes: readonly number[];
  /** Whether to answer SERVFAIL at once while no upstream is healthy, rather than to ask one anyway. */
  readonly failsFast: boolean;
  readonly dohMethod: 'POST' | 'GET';
}

const POLICIES: { readonly [Name in ForwardDirective['policy']]: Policy } = {
  random: 'random',
  round_robin: 'round-robin',
  sequential: 'sequential',
};

export function compileDirective(directive: ForwardDirective): ForwardRoute {
  const { maxConcurrent, maxFails, healthCheck } = directive;
  const coreDns: ServerSources['coreDns'] = {
    readTimeout: directive.readTimeout,
    attempts: directive.maxConnectAttempts,
    health: { kind: 'checks', maxFails, check: healthCheck },
    failsFast: directive.failsFast,
    limits: maxConcurrent > 0 ? { inFlight: maxConcurrent, queued: 0 } : {},
  };
  return {
    from: directive.from,
    except: directive.except,
    nextRcodes: directive.nextRcodes,
    nextOnNoData: directive.nextOnNoData,
    plan: toForwardPlan(directive, coreDns),
    sources: {
      upstreams: directive.upstreams,
      forceTcp: directive.forceTcp,
      tls: directive.tls,
      sourceAddress: directive.sourceAddress,
      resolvers: directive.resolvers,
      coreDns,
    },
    replies: { kind: 'as-sent', prefersUdp: directive.preferUdp, maxConcurrent },
  };
}

function toForwardPlan(directive: ForwardDirective, coreDns: ServerSources['coreDns']): ForwardPlan {
  const { expire, maxAge, maxIdleConnections } = directive;
  const { attempts, limits } = coreDns;
  return {
    ...DEFAULT_FORWARD_PLAN,
    ...TRANSPORT_OF_COREDNS,
    streams: {
      idle: expire,
      maxAge,
      minConnections: 1,
      ...(maxIdleConnections > 0 && { maxConnections: maxIdleConnections }),
    },
    fallsBackToUdp: false,
    httpsMethod: directive.dohMethod,
    policy: POLICIES[directive.policy],
    tryNextOn: directive.failoverRcodes,
    // The servers of a directive know the same names.
    timing: { ...DEFAULT_FORWARD_PLAN.timing, negativeWait: 0 },
    // A server is down only if it has not replied at all. One question tests it; the others do not wait.
    failFast: true,
    ...(attempts !== undefined && profileOfCoreDns({ ...coreDns, attempts })),
    // The plugin `loop` detects loops.
    loopDetection: false,
    // Clients decide whether they trust the AD bit of servers, as in CoreDNS.
    trustsAd: true,
    passesOptions: true,
    limits: { ...DEFAULT_FORWARD_PLAN.limits, ...limits },
  };
}
