/**
 * Names outside the cluster: what was asked upstream, and what the cache saved.
 */
import { RESOLVER_METRICS_ID } from '../../handlers/resolver/metrics-ids.ts';
import type { ResolverFigures } from '../../handlers/resolver/resolver.ts';
import { rcodeName } from '../../wire/mnemonics.ts';
import type { Figures } from '../figures.ts';
import { type HistogramMetric, type Metric, one, type Sample } from './metric.ts';

type Upstream = ResolverFigures['forward']['upstreams'][number];

const perUpstream = (read: (upstream: Upstream) => number | undefined) => (figures: Figures) =>
  figures.resolver.forward.upstreams.flatMap((each): readonly Sample[] => {
    const value = read(each);
    return value === undefined ? [] : [[{ upstream: each.upstream }, value]];
  });

const UPSTREAM_STATES = ['untried', 'well', 'failing', 'down', 'looping'] as const;

const UPSTREAM_METRICS: readonly Metric[] = [
  {
    kind: 'counter',
    name: 'portolan_upstream_queries_total',
    help: 'Queries sent to an upstream server, repeated ones and probes included.',
    labels: ['upstream'],
    read: perUpstream(({ sent }) => sent),
  },
  {
    kind: 'counter',
    name: 'portolan_upstream_results_total',
    help: 'What became of them: a response code, timeout, or network.',
    labels: ['upstream', 'result'],
    read: ({ resolver }) =>
      resolver.forward.upstreams.flatMap(({ upstream, replies, timeouts, networkErrors }) => [
        ...Array.from(replies, ([rcode, count]): Sample => [{ upstream, result: rcodeName(rcode) }, count]),
        [{ upstream, result: 'timeout' }, timeouts],
        [{ upstream, result: 'network' }, networkErrors],
      ]),
  },
  {
    kind: 'counter',
    name: 'portolan_upstream_dropped_replies_total',
    help: 'Packets from an upstream address that were no reply to a query of ours, or to another question.',
    labels: ['upstream', 'reason'],
    read: ({ resolver }) =>
      resolver.forward.upstreams.flatMap(({ upstream, dropped }) => [
        [{ upstream, reason: 'strange' }, dropped.strange],
        [{ upstream, reason: 'other_question' }, dropped.otherQuestion],
      ]),
  },
  {
    kind: 'counter',
    name: 'portolan_upstream_loops_total',
    help: 'Times that a query of ours came back to us from an upstream server.',
    labels: ['upstream'],
    read: perUpstream(({ loops }) => loops),
  },
  {
    kind: 'gauge',
    name: 'portolan_upstream_state',
    help: '1 for the state that an upstream server is in.',
    labels: ['upstream', 'state'],
    read: ({ resolver }) =>
      resolver.forward.upstreams.flatMap(({ upstream, state }) =>
        UPSTREAM_STATES.map((each): Sample => [{ upstream, state: each }, each === state.kind ? 1 : 0]),
      ),
  },
  {
    kind: 'gauge',
    name: 'portolan_upstream_round_trip_seconds',
    help: 'The smoothed time from a query to its reply.',
    labels: ['upstream'],
    read: perUpstream(({ smoothedRoundTrip }) =>
      smoothedRoundTrip === undefined ? undefined : smoothedRoundTrip / 1000,
    ),
  },
];

const FORWARD_METRICS: readonly Metric[] = [
  {
    kind: 'gauge',
    name: 'portolan_forward_in_flight',
    help: 'Questions under way upstream, equal ones counted once.',
    labels: [],
    read: ({ resolver }) => one(resolver.forward.inFlight),
  },
  {
    kind: 'gauge',
    name: 'portolan_forward_queued',
    help: 'Questions that wait for their turn to go upstream.',
    labels: [],
    read: ({ resolver }) => one(resolver.forward.queued),
  },
  {
    kind: 'counter',
    name: 'portolan_forward_coalesced_total',
    help: 'Questions that were answered with the reply to an equal one.',
    labels: [],
    read: ({ resolver }) => one(resolver.forward.coalesced),
  },
  {
    kind: 'counter',
    name: 'portolan_forward_hedged_total',
    help: 'Second servers asked because the first was slower than usual.',
    labels: [],
    read: ({ resolver }) => one(resolver.forward.hedged),
  },
  {
    kind: 'counter',
    name: 'portolan_forward_failures_total',
    help: 'Questions that nobody upstream answered, by reason; overloaded are those refused by our own limits.',
    labels: ['reason'],
    read: ({ resolver }) =>
      Array.from(
        resolver.forwarding.failures,
        ([reason, count]): Sample => [{ reason: reason.replaceAll('-', '_') }, count],
      ),
  },
  {
    kind: 'counter',
    name: 'portolan_forward_dropped_records_total',
    help: 'Records of replies that did not belong to their question.',
    labels: [],
    read: ({ resolver }) => one(resolver.forward.droppedRecords),
  },
];

const CACHE_METRICS: readonly Metric[] = [
  {
    kind: 'counter',
    name: 'portolan_cache_hits_total',
    help: 'Questions answered from the cache: fresh, or stale since no upstream server gave a new answer.',
    labels: ['kind'],
    read: ({ queries, resolver: { remembering } }) => {
      const hits = (id: number) => queries.byMetricsId.get(id) ?? 0;
      return [
        [{ kind: 'fresh' }, hits(RESOLVER_METRICS_ID.answered) + remembering.hits],
        [{ kind: 'stale' }, hits(RESOLVER_METRICS_ID.stale) + remembering.stale],
      ];
    },
  },
  {
    kind: 'counter',
    name: 'portolan_cache_misses_total',
    help: 'Questions whose answer was not in the cache, or no longer.',
    labels: [],
    read: ({ resolver }) => one(resolver.remembering.misses),
  },
  {
    kind: 'counter',
    name: 'portolan_cache_prefetches_total',
    help: 'Popular answers asked for anew before they expired.',
    labels: [],
    read: ({ resolver }) => one(resolver.prefetched),
  },
  {
    kind: 'counter',
    name: 'portolan_cache_insertions_total',
    help: 'Answers put into the cache.',
    labels: [],
    read: ({ table }) => one(table.insertions),
  },
  {
    kind: 'counter',
    name: 'portolan_cache_evictions_total',
    help: 'Cached answers that had to go for others.',
    labels: [],
    read: ({ table }) => one(table.evictions),
  },
  {
    kind: 'counter',
    name: 'portolan_cache_refusals_total',
    help: 'Answers that were not cached for want of room.',
    labels: [],
    read: ({ table }) => one(table.refusals),
  },
];

export const RESOLVER_METRICS: readonly Metric[] = [
  ...UPSTREAM_METRICS,
  ...FORWARD_METRICS,
  ...CACHE_METRICS,
];

export const RESOLVER_HISTOGRAMS: readonly HistogramMetric[] = [
  {
    name: 'portolan_forward_duration_seconds',
    help: 'From a question to its answer from upstream.',
    read: ({ resolver }) => resolver.forwarding.latency,
  },
];
