/**
 * How CoreDNS asks the servers of a `forward`: each query waits a fixed time for its reply, the next server is asked after a failure,
 * and checks show which servers are down.
 */
import { ROOT } from '@portolan/dns/name.ts';
import type { TransportTerms } from './connect.ts';
import type { ForwardPlan } from './forward-plan.ts';
import type { HealthPolicy } from './upstream/health-checks.ts';

export interface CoreDnsTerms {
  /** Milliseconds that a reply may take. */
  readonly readTimeout: number;
  /** Maximum of queries that fail for one question; 0: as many as the deadline permits. */
  readonly attempts: number;
  readonly health: HealthPolicy;
  /** Whether a question fails at once while all servers are down, instead of trying one of them. */
  readonly failsFast: boolean;
}

/** Milliseconds after which no more servers are tried. */
const DEADLINE = 5000;
/** Milliseconds between two queries to a server that fails, if nothing else bounds their number. */
const UNBOUNDED_INTERVAL = 50;

export function profileOfCoreDns({
  readTimeout,
  attempts,
  health,
  failsFast,
}: CoreDnsTerms): Pick<ForwardPlan, 'timing' | 'retry' | 'health' | 'failFast' | 'hedging' | 'hedgesAlways'> {
  const isBounded = attempts > 0;
  return {
    timing: {
      minTimeout: readTimeout,
      maxTimeout: readTimeout,
      firstTimeout: readTimeout,
      deadline: DEADLINE,
      failover: 0,
      negativeWait: 0,
    },
    retry: {
      trigger: 'failure',
      interval: 0,
      scope: 'next',
      refusedInterval: isBounded ? 0 : UNBOUNDED_INTERVAL,
      attempts: isBounded ? attempts : Number.POSITIVE_INFINITY,
    },
    health,
    failFast: failsFast,
    hedging: false,
    hedgesAlways: false,
  };
}

export const TRANSPORT_OF_COREDNS: Pick<TransportTerms, 'maxUdpReply' | 'streams'> = {
  maxUdpReply: 4096,
  streams: { idle: 10_000 },
};

/** Queries under way that are neither merged nor limited by the configuration: a bound of memory. */
export const MAX_SEPARATE = 20_000;

/** Servers are never down. */
export const NEVER_DOWN: HealthPolicy = {
  kind: 'checks',
  maxFails: 0,
  check: { interval: 1000, recursionDesired: true, domain: ROOT },
};
