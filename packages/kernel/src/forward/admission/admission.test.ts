import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import { Admission, ClientTally, type Ticket } from './admission.ts';

const client = fc.constantFrom('a', 'b', 'c', 'd');

describe('ClientTally', () => {
  it('knows each count and who has the most', () => {
    const step = fc.record({ client, isAdded: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const tally = new ClientTally();
        const counts = new Map<string, number>();
        for (const { client, isAdded } of steps) {
          const before = counts.get(client) ?? 0;
          counts.set(client, Math.max(0, before + (isAdded ? 1 : -1)));
          if (isAdded) tally.add(client);
          else tally.subtract(client);
          const most = Math.max(...counts.values());
          const busiest = tally.busiest();
          expect(busiest === undefined ? 0 : counts.get(busiest)).toBe(most);
          for (const [name, count] of counts) expect(tally.count(name)).toBe(count);
        }
      }),
    );
  });
});

describe('Admission', () => {
  type Step =
    | { readonly kind: 'enter'; readonly client: string }
    | { readonly kind: 'leave' }
    | { readonly kind: 'share'; readonly client: string }
    | { readonly kind: 'wait'; readonly milliseconds: number };

  const step: fc.Arbitrary<Step> = fc.oneof(
    { arbitrary: fc.record({ kind: fc.constant('enter' as const), client }), weight: 4 },
    { arbitrary: fc.record({ kind: fc.constant('leave' as const) }), weight: 3 },
    { arbitrary: fc.record({ kind: fc.constant('share' as const), client }), weight: 1 },
    {
      arbitrary: fc.record({
        kind: fc.constant('wait' as const),
        milliseconds: fc.integer({ min: 1, max: 400 }),
      }),
      weight: 1,
    },
  );

  it('keeps its bounds, and runs or refuses each question exactly once', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const clock = new ManualClock();
        const limits = { inFlight: 4, perClient: 2, queued: 3, queueDeadline: 500 };
        const fates = new Map<number, string>();
        const decide = (fate: string) => (work: number) => {
          expect(fates.has(work)).toBe(false);
          fates.set(work, fate);
        };
        const admission = new Admission<number>(limits, clock, {
          run: decide('run'),
          refuse: decide('refused'),
        });
        const tickets: Ticket<number>[] = [];
        for (const next of steps) {
          if (next.kind === 'enter') tickets.push(admission.enter(next.client, tickets.length));
          else if (next.kind === 'wait') clock.advance(next.milliseconds);
          else if (next.kind === 'leave') {
            const running = tickets.find(({ state }) => state === 'running');
            if (running !== undefined) admission.leave(running);
          } else {
            const waiting = tickets.find(({ state }) => state === 'waiting');
            if (waiting !== undefined) admission.share(waiting, next.client);
          }
          const { running, waiting } = admission.statistics();
          expect(running).toBeLessThanOrEqual(limits.inFlight);
          expect(waiting).toBeLessThanOrEqual(limits.queued);
          expect(running).toBe(tickets.filter(({ state }) => state === 'running').length);
          expect(waiting).toBe(tickets.filter(({ state }) => state === 'waiting').length);
        }
        clock.advance(1000);
        expect(fates.size).toBe(tickets.length);
        expect(admission.statistics().waiting).toBe(0);
        expect(clock.pending).toBe(0);
      }),
    );
  });

  it('starts waiting questions when the bounds grow', () => {
    const started: string[] = [];
    const limits = { inFlight: 1, perClient: 1, queued: 9, queueDeadline: 500 };
    const events = { run: (work: string) => void started.push(work), refuse() {} };
    const admission = new Admission<string>(limits, new ManualClock(), events);
    for (const work of ['one', 'two', 'three']) admission.enter('a', work);
    expect(started).toEqual(['one']);
    admission.limit({ ...limits, inFlight: 9 });
    expect(started).toEqual(['one', 'two', 'three']);
  });
});
