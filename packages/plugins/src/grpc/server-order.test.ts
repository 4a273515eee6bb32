import { expect, it } from 'vitest';
import { ServerOrder } from './server-order.ts';

const server = (name: string, isResting = false) => ({ name, isResting });
const names = (servers: readonly { readonly name: string }[]) => servers.map(({ name }) => name).join('');

it('keeps that of the configuration', () => {
  const order = new ServerOrder('sequential', [server('a'), server('b'), server('c')], () => 0.9);
  expect([names(order.next()), names(order.next())]).toEqual(['abc', 'abc']);
});

it('begins with the second server and goes on by turns, as CoreDNS does', () => {
  const order = new ServerOrder('round_robin', [server('a'), server('b'), server('c')], () => 0.9);
  expect(Array.from({ length: 4 }, () => names(order.next()))).toEqual(['bac', 'cab', 'abc', 'bac']);
});

it('shuffles all servers', () => {
  const servers = [server('a'), server('b'), server('c')];
  const seen = [0, 1 / 3, 2 / 3].flatMap((first) =>
    [0, 1 / 2].map((second) => {
      const draws = [first, second, 0];
      return names(new ServerOrder('random', servers, () => draws.shift() ?? 0).next());
    }),
  );
  expect(seen).toEqual(['abc', 'acb', 'bac', 'bca', 'cab', 'cba']);
});

it('puts those that have failed at the end', () => {
  const servers = [server('a', true), server('b'), server('c', true), server('d')];
  expect(names(new ServerOrder('sequential', servers, () => 0).next())).toBe('bdac');
});
