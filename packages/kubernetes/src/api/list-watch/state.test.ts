import { expect, test } from 'vitest';
import { describeState, IllegalMoveError, moveWatch, type WatchState } from './state.ts';

const states: Readonly<Record<WatchState['kind'], WatchState>> = {
  idle: { kind: 'idle' },
  listing: { kind: 'listing', path: '/api/v1/services', objects: 500 },
  watching: { kind: 'watching', path: '/api/v1/services' },
  silent: { kind: 'silent', path: '/api/v1/services' },
  waiting: { kind: 'waiting', until: 0, reason: { kind: 'permission', words: '403 no' } },
};

test.each([
  ['idle', 'watching'],
  ['idle', 'waiting'],
  ['listing', 'silent'],
  ['waiting', 'silent'],
] as const)('from %s to %s is no legal move', (from, to) => {
  expect(() => moveWatch(states[from], states[to])).toThrow(IllegalMoveError);
});

test.each([
  ['idle', 'listing'],
  ['listing', 'watching'],
  ['listing', 'waiting'],
  ['watching', 'listing'],
  ['watching', 'waiting'],
  ['waiting', 'watching'],
  ['waiting', 'listing'],
  ['watching', 'idle'],
  ['watching', 'silent'],
  ['silent', 'watching'],
  ['silent', 'waiting'],
  ['silent', 'listing'],
  ['silent', 'idle'],
] as const)('from %s to %s is one, and the state is frozen', (from, to) => {
  const state = moveWatch(states[from], states[to]);
  expect(state).toEqual(states[to]);
  expect(Object.isFrozen(state)).toBe(true);
});

test('in words', () => {
  expect(Object.values(states).map(describeState)).toEqual([
    'not started',
    'still listing, 500 so far',
    'watching',
    'silent: neither event, bookmark nor answered comparison',
    'forbidden: 403 no',
  ]);
});
