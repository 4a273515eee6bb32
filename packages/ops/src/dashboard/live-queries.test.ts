import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Collector } from './collector.ts';
import { LiveQueries } from './live-queries.ts';
import type { LiveLine } from './page-state.ts';
import type { ShownReplica } from './replica.ts';

const queryAt = (second: number, name: string) => ({
  time: `2026-11-24T06:00:0${second}.000Z`,
  client: '10.0.0.1',
  transport: 'udp',
  name,
  type: 'A',
  rcode: 'NOERROR',
  answers: 1,
  milliseconds: 0.1,
  source: 'cache',
});

/** A replica whose `tail` gives what the test hands to it. */
class Tailed {
  readonly replica: ShownReplica;
  readonly asked: string[] = [];
  open = 0;
  give: (...data: readonly unknown[]) => void = () => {};
  fail: (reason: string) => void = () => {};

  constructor(name: string) {
    this.replica = { name, ask: ({ verb, words }, signal) => this.#ask(verb, words, signal) };
  }

  async *#ask(verb: string, words: readonly string[], signal: AbortSignal): AsyncIterable<unknown> {
    if (verb !== 'tail') return;
    this.asked.push(words.join(' '));
    this.open += 1;
    try {
      while (!signal.aborted)
        yield* await new Promise<readonly unknown[]>((resolve, reject) => {
          this.give = (...data) => resolve(data);
          this.fail = (reason) => reject(new Error(reason));
          signal.addEventListener('abort', () => resolve([]));
        });
    } finally {
      this.open -= 1;
    }
  }
}

let clock: ManualClock;
let collector: Collector;
let live: LiveQueries;
let found: Tailed[];

beforeEach(() => {
  clock = new ManualClock();
  found = [new Tailed('one'), new Tailed('two')];
  collector = new Collector(async () => found.map(({ replica }) => replica), clock);
  live = new LiveQueries(collector, clock);
  collector.keepFollowing();
});

afterEach(() => collector.stop());

/** Other work, until nothing is left of it. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** The lines of a stream, each after half a second. */
async function openStream(filters = '') {
  await settle();
  const { status, body } = live.reply(new URLSearchParams(filters));
  expect(status).toBe(200);
  const lines = (body as AsyncIterable<string>)[Symbol.asyncIterator](); // Sent in pieces.
  const next = async (): Promise<LiveLine> => {
    const line = lines.next();
    await settle();
    clock.advance(500);
    return JSON.parse(String((await line).value)) as LiveLine;
  };
  return { next, end: () => lines.return?.() };
}

describe('the queries that are asked right now', () => {
  it('are those of all replicas, in the order of their time', async () => {
    const stream = await openStream();
    expect(await stream.next()).toEqual({ queries: [], leftOut: 0, problems: [], replicas: 2 });
    found[0]?.give(queryAt(2, 'b.'), { lost: 5 });
    found[1]?.give(queryAt(1, 'a.'), queryAt(3, 'c.'));
    const { queries, leftOut } = await stream.next();
    expect(queries.map(({ name, replica }) => `${name} ${replica}`)).toEqual(['a. two', 'b. one', 'c. two']);
    expect(leftOut).toBe(5);
    expect(await stream.next()).toMatchObject({ queries: [], leftOut: 0 });
    await stream.end();
  });

  it('are at most two hundred in half a second; all others are counted', async () => {
    const stream = await openStream();
    await stream.next();
    found[0]?.give(...Array.from({ length: 230 }, () => queryAt(1, 'a.')));
    const { queries, leftOut } = await stream.next();
    expect([queries.length, leftOut]).toEqual([200, 30]);
    await stream.end();
  });

  it('are selected by the replicas', async () => {
    const stream = await openStream('namespace=shop&type=A+AAAA&reason=&other=1&name=shop.svc');
    await stream.next();
    expect(found[0]?.asked).toEqual(['rate=200 name=shop.svc type=A,AAAA namespace=shop']);
    await stream.end();
    const { status, body } = live.reply(new URLSearchParams('type=NOPE'));
    expect([status, String(body)]).toEqual([400, expect.stringContaining('NOPE')]);
  });

  it('stop with their reader, and are watched by few at a time', async () => {
    const streams = [await openStream(), await openStream(), await openStream(), await openStream()];
    for (const stream of streams) await stream.next();
    expect(found.map(({ open }) => open)).toEqual([4, 4]);
    expect(live.reply(new URLSearchParams()).status).toBe(429);
    for (const stream of streams) await stream.end();
    await settle();
    expect(found.map(({ open }) => open)).toEqual([0, 0]);
    await (await openStream()).end();
  });

  it('come from new replicas too, and from those that failed, after a pause', async () => {
    const stream = await openStream();
    await stream.next();
    found[1]?.fail('it is away');
    expect(await stream.next()).toMatchObject({
      problems: [{ replica: 'two', reason: 'it is away' }],
      replicas: 1,
    });
    const [, two] = found;
    found = [new Tailed('three'), ...(two === undefined ? [] : [two])];
    while (found[0]?.open === 0) await stream.next();
    expect(two?.asked.length).toBeGreaterThan(1);
    expect(collector.replicas.map(({ name }) => name)).toEqual(['two', 'three']);
    await stream.end();
  });
});
