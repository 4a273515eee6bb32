import { expect, it } from 'vitest';
import { placeOwnPlugins } from './plugin-order.ts';

const ORDER = ['errors', 'cache', 'forward'];

it('places added plugins before the one that they name, and keeps the order of CoreDNS otherwise', () => {
  const built = [
    { name: 'forward' },
    { name: 'first', before: 'cache' },
    { name: 'second', before: 'cache' },
  ];
  expect(placeOwnPlugins(ORDER, built)).toEqual(['errors', 'first', 'second', 'cache', 'forward']);
});

it('refuses a place that the order does not have', () => {
  expect(() => placeOwnPlugins(ORDER, [{ name: 'own', before: 'shed' }])).toThrow(
    /own to stand before: shed/,
  );
});
