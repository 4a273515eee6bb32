import { describe, expect, it } from 'vitest';
import type { ListenPlan } from '../config/plan.ts';
import { isListeningAt } from './own-addresses.ts';

const plan = (addresses: ListenPlan['addresses']): ListenPlan => ({
  ...{ addresses, port: 53, udpReaders: 1, takeover: false },
});

describe('a server is this one', () => {
  it.each<[ListenPlan['addresses'], string, number, boolean]>([
    [['10.0.0.10'], '10.0.0.10', 53, true],
    [['10.0.0.10'], '10.0.0.10', 5353, false],
    [['10.0.0.10'], '10.0.0.11', 53, false],
    [['10.0.0.10'], '127.0.0.1', 53, false],
    ['all', '127.0.0.53', 53, true],
    ['all', '::1', 53, true],
    ['all', '192.0.2.200', 53, false],
    [['0.0.0.0'], '127.0.0.1', 53, true],
    [['0.0.0.0'], '::1', 53, false],
  ])('listening on %s, asked at %s port %i: %s', (addresses, address, port, expected) => {
    expect(isListeningAt(plan(addresses), address, port)).toBe(expected);
  });
});
