import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { describe, expect, it } from 'vitest';
import { Leases } from './leases.ts';

function makeLeases(seconds: () => number) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const known: number[] = [];
  const leases = new Leases({
    ask: async (id) => {
      asked.push(id);
      const left = seconds();
      if (Number.isNaN(left)) throw new Error('etcd is away');
      return left;
    },
    onKnown: (nodes) => known.push(...nodes),
    clock,
  });
  return { clock, asked, known, leases };
}

describe('leases', () => {
  it('are asked for once, however many keys they have, and again before half of the time is gone', async () => {
    const { clock, asked, known, leases } = makeLeases(() => 100);
    leases.bind(7, { id: 'x' });
    leases.bind(8, { id: 'x' });
    expect(leases.secondsLeft(7)).toBeUndefined();
    clock.advance(0);
    await waitUntil('the time is known', () => known.length === 2);
    expect(leases.secondsLeft(8)).toBe(100);
    clock.advance(49_000);
    expect(leases.secondsLeft(8)).toBe(51);
    expect(asked).toEqual(['x']);
    clock.advance(2_000);
    await waitUntil('the time is known again', () => known.length === 4);
    expect(leases.secondsLeft(7)).toBe(100);
  });

  it('count on while etcd is away, and never say that a key that stands has ended', async () => {
    let left = 10;
    const { clock, asked, known, leases } = makeLeases(() => left);
    leases.bind(7, { id: 'x' });
    clock.advance(0);
    await waitUntil('the time is known', () => known.length === 1);
    left = Number.NaN;
    clock.advance(60_000);
    await waitUntil('it was asked again', () => asked.length > 1);
    expect(leases.secondsLeft(7)).toBe(1);
  });

  it('belong to a key until it has another one, or none', () => {
    const { leases } = makeLeases(() => 100);
    expect(leases.bind(7, undefined)).toBe(false);
    expect(leases.bind(7, { id: '/k', seconds: 60 })).toBe(true);
    expect(leases.secondsLeft(7)).toBe(60);
    expect(leases.bind(7, undefined)).toBe(true);
    expect(leases.secondsLeft(7)).toBe(0);
    expect(leases.count).toBe(0);
  });
});
