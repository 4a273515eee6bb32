/**
 * The property of `seats.property.test.ts` with up to a million packets: half of them for each of two tables.
 */
import { expectOtherSeatsUntouched } from '@portolan/kernel/table/testing/packet-seats.ts';
import { seatsOfAllViews } from '@portolan/kernel/table/testing/seat-views.ts';
import { expect, it } from 'vitest';
import { soakLength } from '../../support/soak-length.ts';

/** Of each table. */
const PACKETS = soakLength(500_000, 200_000);
/** Of 2 to 6 batches of 1 to 64 packets. */
const RUNS = soakLength(3500, 1400);

it.each([undefined, 20])(
  'readers write only into the seats that they answer, where TTLs are bounded by %s',
  {
    timeout: 1_800_000,
  },
  (maxTtl) => {
    const { answered, asked, dropped } = expectOtherSeatsUntouched(seatsOfAllViews(maxTtl), RUNS);
    expect(answered + asked + dropped).toBeGreaterThan(PACKETS);
    expect(Math.min(answered, asked, dropped)).toBeGreaterThan(PACKETS / 100);
  },
);
