import { describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { BatchExporter } from './batch-exporter.ts';
import type { Post } from './http-post.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));
const GOOD = { status: 200, retryAfter: undefined };
const BOUNDS = { waiting: 2_048, batch: 512, linger: 1_000 };

function exportTo(answer: (body: string) => ReturnType<Post>, bounds = BOUNDS) {
  const clock = new ManualClock();
  const events: string[] = [];
  const bodies: string[] = [];
  const exporter = new BatchExporter<number>({
    bounds,
    encode: (items) => JSON.stringify(items),
    clock,
    events: {
      sent: (items, dropped) => void events.push(`sent ${items}, ${dropped} dropped`),
      failed: (reason) => void events.push(`failed: ${reason}`),
    },
    post: (body) => {
      bodies.push(body);
      return answer(body);
    },
  });
  let last = 0;
  const add = (count: number) => {
    for (let index = 0; index < count; index += 1) {
      last += 1;
      exporter.add(last);
    }
  };
  const pass = async (milliseconds: number) => {
    clock.advance(milliseconds);
    await settled();
  };
  return { exporter, bodies, add, pass, events };
}

const itemsIn = (body: string | undefined): number[] => JSON.parse(body ?? '[]');

describe('items', () => {
  it('are sent together, once the first has waited', async () => {
    const { bodies, add, pass } = exportTo(async () => GOOD);
    add(3);
    await pass(999);
    expect(bodies).toEqual([]);
    await pass(1);
    expect(bodies).toEqual(['[1,2,3]']);
  });

  it('are sent at once when a batch is full', async () => {
    const { bodies, add, pass, events } = exportTo(async () => GOOD);
    add(513);
    await settled();
    expect(bodies.map((body) => itemsIn(body).length)).toEqual([512]);
    await pass(1_000);
    expect(bodies.map((body) => itemsIn(body).length)).toEqual([512, 1]);
    expect(events).toEqual(['sent 512, 0 dropped', 'sent 1, 0 dropped']);
  });

  it('wait in bounded memory while a collector is silent; the oldest are dropped and counted', async () => {
    const { exporter, add, bodies } = exportTo(() => new Promise(() => {}));
    add(10_000);
    await settled();
    expect(bodies).toHaveLength(1);
    expect(exporter.dropped).toBe(10_000 - 512 - 2_048);
  });

  it('that are newest are sent once a collector answers again', async () => {
    let answer: (outcome: typeof GOOD) => void = () => {};
    const silent = new Promise<typeof GOOD>((resolve) => {
      answer = resolve;
    });
    const { add, bodies, events, pass } = exportTo(
      (body) => (body.startsWith('[1,') ? silent : Promise.resolve(GOOD)),
      { waiting: 4, batch: 2, linger: 10 },
    );
    add(12);
    await settled();
    answer(GOOD);
    await pass(10);
    expect(bodies).toEqual(['[1,2]', '[9,10]', '[11,12]']);
    expect(events).toEqual(['sent 2, 6 dropped', 'sent 2, 0 dropped', 'sent 2, 0 dropped']);
  });

  it('can be more in a batch than may wait', async () => {
    const { add, bodies, exporter, pass } = exportTo(async () => GOOD, {
      waiting: 2,
      batch: 9,
      linger: 10,
    });
    add(5);
    await pass(10);
    expect([bodies, exporter.dropped]).toEqual([['[4,5]'], 3]);
  });
});

describe('a collector that fails', () => {
  it('is asked five times, and after pauses that it names', async () => {
    const answers = [503, 429, 502, 504, 503].map((status) => ({
      status,
      retryAfter: undefined as number | undefined,
    }));
    answers[1] = { status: 429, retryAfter: 7 };
    const { exporter, bodies, add, pass, events } = exportTo(async () => answers.shift() ?? GOOD);
    add(1);
    const asked: number[] = [];
    for (const pause of [1_000, 1_000, 7_000, 4_000, 8_000]) {
      await pass(pause - 1);
      await pass(1);
      asked.push(bodies.length);
    }
    expect(asked).toEqual([1, 2, 3, 4, 5]);
    expect(exporter.dropped).toBe(1);
    add(1);
    await pass(1_000);
    expect(events).toEqual(['failed: status 503', 'sent 1, 1 dropped']);
  });

  it('is not asked again after a status that means no', async () => {
    const { exporter, bodies, add, pass } = exportTo(async () => ({ status: 400, retryAfter: undefined }));
    add(2);
    await pass(1_000);
    await pass(60_000);
    expect([bodies.length, exporter.dropped]).toEqual([1, 2]);
  });

  it('does not delay the end for more than two seconds, and gets nothing after it', async () => {
    let answer: (outcome: typeof GOOD) => void = () => {};
    const { exporter, add, pass, bodies } = exportTo(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    add(1_024);
    let hasEnded = false;
    const ended = exporter.stop().then(() => {
      hasEnded = true;
    });
    await pass(1_999);
    expect(hasEnded).toBe(false);
    await pass(1);
    await ended;
    answer(GOOD);
    await settled();
    expect([bodies.length, exporter.dropped]).toEqual([1, 512]);
  });
});

it('sends what waits when it stops', async () => {
  const { exporter, bodies, add } = exportTo(async () => GOOD);
  add(2);
  await exporter.stop();
  expect(bodies).toEqual(['[1,2]']);
});
