import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_FORWARD_PLAN } from '../forward-plan.ts';
import { Pacing } from './pacing.ts';
import { RoundTrip } from './round-trip.ts';

const { timing } = DEFAULT_FORWARD_PLAN;

describe('RoundTrip', () => {
  it('follows what a server takes', () => {
    const times = new RoundTrip(timing);
    expect([times.smoothed, times.timeout(), times.hedgeDelay()]).toEqual([undefined, 400, 200]);
    times.measure(200);
    expect([times.smoothed, times.timeout(), times.hedgeDelay()]).toEqual([200, 600, 400]);
    for (let turn = 0; turn < 100; turn += 1) times.measure(200);
    expect([times.timeout(), times.hedgeDelay()]).toEqual([200, 200]);
    for (let turn = 0; turn < 100; turn += 1) times.measure(1);
    expect([times.timeout(), times.hedgeDelay()]).toEqual([50, 50]);
  });

  it('gives the first three queries of a question as long, and each after them twice as long', () => {
    const times = new RoundTrip(timing);
    for (let turn = 0; turn < 100; turn += 1) times.measure(7);
    expect(Array.from({ length: 9 }, (_, queries) => times.timeout(queries))).toEqual([
      50, 50, 50, 100, 200, 400, 800, 800, 800,
    ]);
    expect(times.usualTimeout()).toBe(50);
  });

  it('doubles the time-out once for timeouts that come together, until a reply', () => {
    const times = new RoundTrip(timing);
    for (let turn = 0; turn < 50; turn += 1) times.timedOut(1000);
    expect(times.timeout()).toBe(800);
    times.timedOut(1799);
    expect(times.timeout()).toBe(800);
    times.timedOut(1800);
    expect(times.timeout()).toBe(1600);
    times.measure(10);
    expect(times.timeout()).toBe(50);
  });

  it('lets the next server of a binding order wait for what it takes on average, not for what it varies', () => {
    const times = new RoundTrip(timing);
    expect(times.failoverDelay(400)).toBe(400);
    times.measure(250);
    expect([times.usualTimeout(), times.failoverDelay(400)]).toEqual([750, 400]);
    times.timedOut(1000);
    expect(times.failoverDelay(400)).toBe(400);
    for (let turn = 0; turn < 100; turn += 1) times.measure(600);
    expect([times.usualTimeout(), times.failoverDelay(400)]).toEqual([600, 900]);
  });

  it('keeps its bounds whatever it sees', () => {
    const event = fc.oneof(fc.double({ min: 0, max: 10_000, noNaN: true }), fc.constant('timeout' as const));
    fc.assert(
      fc.property(fc.array(event, { maxLength: 100 }), (events) => {
        const times = new RoundTrip(timing);
        for (const [index, seen] of events.entries()) {
          if (seen === 'timeout') times.timedOut(index * 500);
          else times.measure(seen);
          expect(times.timeout()).toBeGreaterThanOrEqual(timing.minTimeout);
          expect(times.timeout()).toBeLessThanOrEqual(timing.maxTimeout);
          expect(times.hedgeDelay()).toBeLessThanOrEqual(times.timeout());
        }
      }),
    );
  });
});

describe('Pacing', () => {
  it('never lets more through than its rate and one burst', () => {
    const gap = fc.integer({ min: 0, max: 50 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), fc.array(gap, { maxLength: 300 }), (rate, gaps) => {
        const pacing = new Pacing(rate, 0);
        let now = 0;
        let sent = 0;
        for (const milliseconds of gaps) {
          now += milliseconds;
          if (pacing.wait(now) > 0) continue;
          pacing.take(now);
          sent += 1;
        }
        expect(sent).toBeLessThanOrEqual((now / 1000) * rate + Math.max(1, rate / 10) + 1e-6);
      }),
    );
  });

  it('says when the next one may go', () => {
    const pacing = new Pacing(10, 0);
    expect(pacing.wait(0)).toBe(0);
    pacing.take(0);
    expect(pacing.wait(0)).toBe(100);
    expect(pacing.wait(99)).toBe(1);
    expect(pacing.wait(100)).toBe(0);
  });
});
