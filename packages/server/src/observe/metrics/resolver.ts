/**
 * Metrics of names outside the cluster: upstream queries, and cache hits.
 */
import { rcodeName } from '@portolan/dns/mnemonics.ts';
import { distributionSamples, one, type Sample } from '@portolan/kernel/base/metrics/family.ts';
import { RESOLVER_OUTCOME } from '@portolan/kernel/chain/outcomes.ts';
import type { Stats } from '../stats.ts';
import type { Metric } from './metric.ts';

type UpstreamCounts = Stats['forward']['upstreams'][number];

const perUpstream = (read: (upstream: UpstreamCounts) => number | undefined) => (stats: Stats) =>
  stats.forward.upstreams.flatMap((each): readonly Sample[] => {
    const value = read(each);
    return value === undefined ? [] : [[{ upstream: each.upstream }, value]];
  });

const UPSTREAM_STATES = ['untried', 'well', 'failing', 'silent', 'down', 'looping'] as const;

const UPSTREAM_METRICS: readonly Metric[] = [
  {
    type: 'counter',
    name: 'portolan_upstream_queries_total',
    help: 'Queries sent to an upstream server, retries and probes included.',
    labels: ['upstream'],
    read: perUpstream(({ sent }) => sent),
  },
  {
    type: 'counter',
    name: 'portolan_upstream_results_total',
    help: 'Results of these queries: a response code, timeout, or network.',
    labels: ['upstream', 'result'],
    read: ({ forward }) =>
      forward.upstreams.flatMap(({ upstream, replies, timeouts, networkErrors }) => [
        ...Array.from(replies, ([rcode, count]): Sample => [{ upstream, result: rcodeName(rcode) }, count]),
        [{ upstream, result: 'timeout' }, timeouts],
        [{ upstream, result: 'network' }, networkErrors],
      ]),
  },
  {
    type: 'counter',
    name: 'portolan_upstream_dropped_replies_total',
    help: 'Packets from the address of an upstream server that match no pending query, or another question.',
    labels: ['upstream', 'reason'],
    read: ({ forward }) =>
      forward.upstreams.flatMap(({ upstream, dropped }) => [
        [{ upstream, reason: 'strange' }, dropped.strange],
        [{ upstream, reason: 'other_question' }, dropped.otherQuestion],
        [{ upstream, reason: 'other_case' }, dropped.otherCase],
      ]),
  },
  {
    type: 'counter',
    name: 'portolan_upstream_loops_total',
    help: 'Forwarding loops found: queries that an upstream server sent back.',
    labels: ['upstream'],
    read: perUpstream(({ loops }) => loops),
  },
  {
    type: 'gauge',
    name: 'portolan_upstream_state',
    help: '1 for the current state of an upstream server.',
    labels: ['upstream', 'state'],
    read: ({ forward }) =>
      forward.upstreams.flatMap(({ upstream, state }) =>
        UPSTREAM_STATES.map((each): Sample => [{ upstream, state: each }, each === state.kind ? 1 : 0]),
      ),
  },
  {
    type: 'gauge',
    name: 'portolan_upstream_rtt_seconds',
    formerName: 'portolan_upstream_round_trip_seconds',
    help: 'Smoothed round-trip time.',
    labels: ['upstream'],
    read: perUpstream(({ smoothedRoundTrip }) =>
      smoothedRoundTrip === undefined ? undefined : smoothedRoundTrip / 1000,
    ),
  },
];

const FORWARD_METRICS: readonly Metric[] = [
  {
    type: 'counter',
    name: 'portolan_forwarded_queries_total',
    help: 'Queries sent upstream by reader threads themselves, and by the main thread for them.',
    labels: ['path'],
    read: ({ forwarded }) => [
      [{ path: 'reader' }, forwarded.reader],
      [{ path: 'main' }, forwarded.main],
    ],
  },
  {
    type: 'gauge',
    name: 'portolan_forward_inflight_queries',
    formerName: 'portolan_forward_in_flight',
    help: 'Questions in flight to upstream servers, equal ones counted once.',
    labels: [],
    read: ({ forward }) => one(forward.inFlight),
  },
  {
    type: 'gauge',
    name: 'portolan_forward_queue_length',
    formerName: 'portolan_forward_queued',
    help: 'Questions queued for forwarding.',
    labels: [],
    read: ({ forward }) => one(forward.queued),
  },
  {
    type: 'counter',
    name: 'portolan_forward_coalesced_queries_total',
    formerName: 'portolan_forward_coalesced_total',
    help: 'Questions answered with the reply to an equal in-flight question.',
    labels: [],
    read: ({ forward }) => one(forward.coalesced),
  },
  {
    type: 'counter',
    name: 'portolan_forward_hedged_queries_total',
    formerName: 'portolan_forward_hedged_total',
    help: 'Queries to a second server sent because the first was slower than usual.',
    labels: [],
    read: ({ forward }) => one(forward.hedged),
  },
  {
    type: 'counter',
    name: 'portolan_forward_failures_total',
    help: 'Questions that no upstream server answered, by reason; overloaded: refused by a limit of this server.',
    labels: ['reason'],
    read: ({ forward }) =>
      Array.from(
        forward.failures,
        ([reason, count]): Sample => [{ reason: reason.replaceAll('-', '_') }, count],
      ),
  },
  {
    type: 'counter',
    name: 'portolan_forward_dropped_records_total',
    help: 'Records left out of replies since they did not belong to the question.',
    labels: [],
    read: ({ forward }) => one(forward.droppedRecords),
  },
];

const CACHE_METRICS: readonly Metric[] = [
  {
    type: 'counter',
    name: 'portolan_cache_hits_total',
    help: 'Questions answered from the cache: fresh, or stale (RFC 8767).',
    labels: ['kind'],
    read: ({ queries, cache }) => {
      const hits = (id: number) => queries.byOutcome.get(id) ?? 0;
      return [
        [{ kind: 'fresh' }, hits(RESOLVER_OUTCOME.answered) + cache.hits],
        [{ kind: 'stale' }, hits(RESOLVER_OUTCOME.stale) + cache.stale],
      ];
    },
  },
  {
    type: 'counter',
    name: 'portolan_cache_misses_total',
    help: 'Questions whose answer was not in the cache, or had expired.',
    labels: [],
    read: ({ cache }) => one(cache.misses),
  },
  {
    type: 'counter',
    name: 'portolan_cache_prefetches_total',
    help: 'Popular answers refreshed before they expired.',
    labels: [],
    read: ({ cache }) => one(cache.prefetched),
  },
  {
    type: 'counter',
    name: 'portolan_cache_insertions_total',
    help: 'Answers added to the cache.',
    labels: [],
    read: ({ table }) => one(table.insertions),
  },
  {
    type: 'counter',
    name: 'portolan_cache_evictions_total',
    help: 'Cached answers evicted for others.',
    labels: [],
    read: ({ table }) => one(table.evictions),
  },
  {
    type: 'counter',
    name: 'portolan_cache_rejections_total',
    formerName: 'portolan_cache_refusals_total',
    help: 'Answers not cached since the cache was full.',
    labels: [],
    read: ({ table }) => one(table.refusals),
  },
];

export const RESOLVER_METRICS: readonly Metric[] = [
  ...UPSTREAM_METRICS,
  ...FORWARD_METRICS,
  ...CACHE_METRICS,
];

export const RESOLVER_HISTOGRAMS: readonly Metric[] = [
  {
    type: 'histogram',
    name: 'portolan_forward_duration_seconds',
    help: 'Time from a question to its answer from an upstream server.',
    labels: [],
    read: ({ forward }) => distributionSamples({}, forward.latency),
  },
];
