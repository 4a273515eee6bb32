/**
 * Whatever comes in a batch, in whatever seats, for views of all kinds: a reader writes only into the seat of a packet that it
 * answers, and says of each packet what it would say if no other had come.
 */
import { describe, expect, it } from 'vitest';
import { expectOtherSeatsUntouched } from './testing/packet-seats.ts';
import { seatsOfAllViews } from './testing/seat-views.ts';

describe('the seats of a batch', () => {
  it.each([undefined, 20])('keep what other packets brought, where TTLs are bounded by %s', (maxTtl) => {
    const { answered, asked, dropped } = expectOtherSeatsUntouched(seatsOfAllViews(maxTtl), 30);
    expect(Math.min(answered, asked, dropped)).toBeGreaterThan(100);
  });
});
