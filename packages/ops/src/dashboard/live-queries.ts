/**
 * The queries that are asked right now, of all replicas, as a stream of lines of JSON. A replica is watched while somebody reads.
 *
 * A line leaves every half second, also without queries, so a reader that has left is noticed. It has at most two hundred
 * queries and counts all others: a slow reader gets fewer of them, and nothing waits for it.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { HttpReply } from '@portolan/server/observe/http-route.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { readControlOrder } from '../control/settings/control-order.ts';
import type { Collector } from './collector.ts';
import { json } from './json-reply.ts';
import type { LiveLine, LiveQuery } from './page-state.ts';
import type { ShownReplica } from './replica.ts';
import { readTail } from './replica-answers.ts';

const LINES_TYPE = 'application/x-ndjson; charset=utf-8';
/** Streams at a time; each watches all replicas. */
const MAX_STREAMS = 4;
/** Milliseconds between two lines. */
const PAUSE = 500;
const MAX_QUERIES = 200;
/** Queries that each replica describes in a second: more cost it time, and nobody can read them. */
const RATE = 200;
/** Milliseconds after which a replica whose stream has ended is watched again. */
const AGAIN_AFTER = 2_000;
const FILTERS = ['name', 'type', 'rcode', 'client', 'namespace', 'reason', 'source'] as const;

export class LiveQueries {
  readonly #collector: Collector;
  readonly #clock: Clock;
  #streams = 0;

  constructor(collector: Collector, clock: Clock) {
    this.#collector = collector;
    this.#clock = clock;
  }

  reply(query: URLSearchParams): HttpReply {
    const words = filterWords(query);
    const checked = readControlOrder(['tail', ...words], 'text');
    if (checked.kind === 'bad') return json(400, { problems: checked.problems.map(describeProblem) });
    if (this.#streams >= MAX_STREAMS)
      return json(429, { problems: ['Too many pages watch queries: close one, and try again.'] });
    return { status: 200, type: LINES_TYPE, body: this.#lines(words) };
  }

  /** Until its reader leaves. */
  async *#lines(words: readonly string[]): AsyncIterable<string> {
    this.#streams += 1;
    const watched = new WatchedReplicas(words, this.#clock);
    try {
      for (;;) {
        this.#collector.keepFollowing();
        watched.follow(this.#collector.replicas);
        await new Promise<void>((resolve) => void this.#clock.after(PAUSE, resolve));
        yield `${JSON.stringify(watched.take())}\n`;
      }
    } finally {
      watched.stop();
      this.#streams -= 1;
    }
  }
}

/** Words of the control socket. */
function filterWords(query: URLSearchParams): readonly string[] {
  const filters = FILTERS.flatMap((filter) => {
    const value =
      query
        .get(filter)
        ?.trim()
        .split(/[\s,]+/)
        .join(',') ?? '';
    return value === '' ? [] : `${filter}=${value}`;
  });
  return [`rate=${RATE}`, ...filters];
}

interface WatchedReplica {
  readonly abort: AbortController;
  /** Why its stream has ended. */
  reason?: string;
}

class WatchedReplicas {
  readonly #words: readonly string[];
  readonly #clock: Clock;
  readonly #watching = new Map<string, WatchedReplica>();
  #queries: LiveQuery[] = [];
  #leftOut = 0;

  constructor(words: readonly string[], clock: Clock) {
    this.#words = words;
    this.#clock = clock;
  }

  follow(replicas: readonly ShownReplica[]): void {
    for (const [name, { abort }] of this.#watching) {
      if (replicas.some((replica) => replica.name === name)) continue;
      abort.abort();
      this.#watching.delete(name);
    }
    for (const replica of replicas) if (!this.#watching.has(replica.name)) void this.#watch(replica);
  }

  take(): LiveLine {
    const queries = this.#queries.sort((one, other) => (one.time < other.time ? -1 : 1));
    const leftOut = this.#leftOut;
    this.#queries = [];
    this.#leftOut = 0;
    const problems = Array.from(this.#watching, ([replica, { reason }]) => ({ replica, reason })).flatMap(
      ({ replica, reason }) => (reason === undefined ? [] : [{ replica, reason }]),
    );
    return { queries, leftOut, problems, replicas: this.#watching.size - problems.length };
  }

  stop(): void {
    for (const { abort } of this.#watching.values()) abort.abort();
    this.#watching.clear();
  }

  async #watch(replica: ShownReplica): Promise<void> {
    const { name } = replica;
    const watching: WatchedReplica = { abort: new AbortController() };
    const { signal } = watching.abort;
    this.#watching.set(name, watching);
    try {
      for await (const data of replica.ask({ verb: 'tail', words: this.#words }, signal))
        this.#add(name, readTail(data));
      watching.reason = 'its stream has ended';
    } catch (error) {
      watching.reason = describeError(error);
    }
    this.#clock.after(AGAIN_AFTER, () => {
      if (this.#watching.get(name) === watching) this.#watching.delete(name);
    });
  }

  #add(replica: string, seen: ReturnType<typeof readTail>): void {
    if ('lost' in seen) this.#leftOut += seen.lost;
    else if (this.#queries.length >= MAX_QUERIES) this.#leftOut += 1;
    else this.#queries.push({ ...seen, replica });
  }
}
