/**
 * For any batch in any seats, and views of all kinds: a reader writes only into the seat of a packet that it answers,
 * and its verdict on a packet does not depend on other packets.
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
