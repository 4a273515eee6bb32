import { describe, expect, it } from 'vitest';
import { encodeSocketAddress } from '../socket/addresses.ts';
import { BATCH_PACKETS } from '../socket/batch.ts';
import { OverloadGuard } from './overload-guard.ts';

/** A socket that cannot limit clients, as if the kernel had no filters. */
const guarding = (isFillingUp: () => boolean) =>
  new OverloadGuard({ isFillingUp, limit: () => false, onLimited: () => {} });

const makeClient = (address: string, port: number) => encodeSocketAddress({ address, port });

/** Whether each packet of a full batch is answered: every eighth from another client, all others from one. */
function takeBatch(guard: OverloadGuard, flooder: string, others: readonly string[]) {
  guard.beginBatch(BATCH_PACKETS, 0);
  const answered = { flooder: 0, others: 0 };
  for (let packet = 0; packet < BATCH_PACKETS; packet++) {
    const other = packet % 8 === 7 ? others[packet >> 3] : undefined;
    const isAnswered = guard.admits(makeClient(other ?? flooder, 1024 + packet), 0);
    if (isAnswered) answered[other === undefined ? 'flooder' : 'others']++;
  }
  return answered;
}

describe.each([
  ['IPv4', '10.0.0.66', Array.from({ length: 8 }, (_, index) => `10.0.1.${index}`)],
  ['IPv6', 'fd00::66', Array.from({ length: 8 }, (_, index) => `fd00::1:${index + 1}`)],
])('a flood by %s', (_family, flooder, others) => {
  it('is answered while the receive buffer is not filling up', () => {
    const guard = guarding(() => false);
    for (let batch = 0; batch < 20; batch++)
      expect(takeBatch(guard, flooder, others)).toEqual({ flooder: 56, others: 8 });
  });

  it('gets a few answers in each batch while it is, and others get all of theirs', () => {
    let isFillingUp = true;
    const guard = guarding(() => isFillingUp);
    for (let batch = 0; batch < 20; batch++) {
      const answered = takeBatch(guard, flooder, others);
      expect(answered.flooder).toBeLessThanOrEqual(4);
      // Another client may fall into the same group of 1,024, by chance.
      expect(answered.others).toBeGreaterThanOrEqual(7);
    }
    isFillingUp = false;
    expect(takeBatch(guard, flooder, others)).toEqual({ flooder: 56, others: 8 });
  });

  it('is over when a batch is not full', () => {
    const guard = guarding(() => true);
    for (let batch = 0; batch < 8; batch++) takeBatch(guard, flooder, others);
    guard.beginBatch(BATCH_PACKETS - 1, 0);
    for (let packet = 0; packet < BATCH_PACKETS - 1; packet++)
      expect(guard.admits(makeClient(flooder, 1024), 0)).toBe(true);
  });
});
