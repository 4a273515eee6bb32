/**
 * Counts what all `Forwarder`s of a process do, those that have ended included, so that counts never fall when plans change.
 */
import type { FailureReason } from './forward-reply.ts';
import type { ForwardStatistics } from './forward-statistics.ts';
import type { UpstreamStatistics } from './upstream/upstream-statistics.ts';

export interface ForwardCounts extends ForwardStatistics {
  readonly latency: LatencyCounts;
  /** Questions that no upstream server answered, by reason. */
  readonly failures: ReadonlyMap<FailureReason, number>;
}

interface Counting {
  statistics(): ForwardStatistics;
}

const NOTHING: ForwardStatistics = {
  inFlight: 0,
  queued: 0,
  coalesced: 0,
  refused: 0,
  hedged: 0,
  retried: 0,
  droppedRecords: 0,
  upstreams: [],
};

export class ForwardTally {
  readonly #forwarders = new Set<Counting>();
  readonly #latency = new Latency();
  readonly #failures = new Map<FailureReason, number>();
  #ended = NOTHING;
  /** How many servers of ended forwarders there may be before those are forgotten that no other forwarder has. */
  #maxEnded = 0;

  /** Counts a forwarder from now on. */
  follow(forwarder: Counting): void {
    this.#forwarders.add(forwarder);
  }

  /** Call it before the forwarder stops: its counts stay. Servers that no other forwarder has are forgotten. */
  leave(forwarder: Counting): void {
    if (!this.#forwarders.delete(forwarder)) return;
    const sum = sumStatistics([this.#ended, forwarder.statistics()]);
    const upstreams = sum.upstreams.map((each) => ({ ...each, inFlight: 0 }));
    this.#ended = { ...sum, inFlight: 0, queued: 0, upstreams };
    // Of many server blocks, hundreds leave one after the other.
    if (upstreams.length > this.#maxEnded) this.#forgetUnused(this.#statistics());
  }

  #forgetUnused(statistics: readonly ForwardStatistics[]): void {
    const inUse = new Set(statistics.flatMap(({ upstreams }) => upstreams.map(({ upstream }) => upstream)));
    const upstreams = this.#ended.upstreams.filter(({ upstream }) => inUse.has(upstream));
    this.#ended = { ...this.#ended, upstreams };
    this.#maxEnded = upstreams.length + this.#forwarders.size;
  }

  /** Counts an answer from upstream. @param milliseconds since its question */
  observe(milliseconds: number): void {
    this.#latency.observe(milliseconds);
  }

  /** Counts a question that no server has answered. */
  noteFailure(reason: FailureReason): void {
    this.#failures.set(reason, (this.#failures.get(reason) ?? 0) + 1);
  }

  count(): ForwardCounts {
    const statistics = this.#statistics();
    this.#forgetUnused(statistics);
    // The state of a server is that of the first forwarder that has it; those that have ended come last.
    const sum = sumStatistics([...statistics, this.#ended]);
    return { ...sum, latency: this.#latency.count(), failures: this.#failures };
  }

  #statistics(): readonly ForwardStatistics[] {
    return [...this.#forwarders].map((forwarder) => forwarder.statistics());
  }
}

function sumStatistics(all: readonly ForwardStatistics[]): ForwardStatistics {
  const sum = (read: (each: ForwardStatistics) => number) =>
    all.reduce((total, each) => total + read(each), 0);
  const upstreams = new Map<string, UpstreamStatistics>();
  for (const each of all.flatMap((statistics) => statistics.upstreams)) {
    const before = upstreams.get(each.upstream);
    upstreams.set(each.upstream, before === undefined ? each : addUpstream(before, each));
  }
  return {
    inFlight: sum(({ inFlight }) => inFlight),
    queued: sum(({ queued }) => queued),
    coalesced: sum(({ coalesced }) => coalesced),
    refused: sum(({ refused }) => refused),
    hedged: sum(({ hedged }) => hedged),
    retried: sum(({ retried }) => retried),
    droppedRecords: sum(({ droppedRecords }) => droppedRecords),
    upstreams: [...upstreams.values()],
  };
}

/** @returns the counts of both, and the state of the first */
function addUpstream(one: UpstreamStatistics, other: UpstreamStatistics): UpstreamStatistics {
  const replies = new Map(one.replies);
  for (const [rcode, count] of other.replies) replies.set(rcode, (replies.get(rcode) ?? 0) + count);
  return {
    ...one,
    replies,
    sent: one.sent + other.sent,
    timeouts: one.timeouts + other.timeouts,
    networkErrors: one.networkErrors + other.networkErrors,
    loops: one.loops + other.loops,
    dropped: {
      strange: one.dropped.strange + other.dropped.strange,
      otherQuestion: one.dropped.otherQuestion + other.dropped.otherQuestion,
      otherCase: one.dropped.otherCase + other.dropped.otherCase,
    },
    inFlight: one.inFlight + other.inFlight,
    smoothedRoundTrip: one.smoothedRoundTrip ?? other.smoothedRoundTrip,
  };
}

/** Upper bounds of the buckets, in milliseconds. The last bucket has no bound. */
const BOUNDS: readonly number[] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

interface LatencyCounts {
  /** Upper bound in seconds, and number of answers that took at most so long. */
  readonly buckets: readonly (readonly [seconds: number, count: number])[];
  /** Seconds, of all answers together. */
  readonly sum: number;
  readonly count: number;
}

/** The latency of answers from upstream, counted in buckets for Prometheus. */
class Latency {
  readonly #counts = BOUNDS.map(() => 0);
  #sum = 0;
  #count = 0;

  observe(milliseconds: number): void {
    this.#sum += milliseconds;
    this.#count += 1;
    const range = BOUNDS.findIndex((bound) => milliseconds <= bound);
    if (range >= 0) this.#counts[range] = (this.#counts[range] ?? 0) + 1;
  }

  count(): LatencyCounts {
    let below = 0;
    const buckets = BOUNDS.map((bound, index) => {
      below += this.#counts[index] ?? 0;
      return [bound / 1000, below] as const;
    });
    return { buckets, sum: this.#sum / 1000, count: this.#count };
  }
}
