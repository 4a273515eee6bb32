import { expect, it } from 'vitest';
import { readPlan, readProblems } from './testing/read-plan.ts';

const allowed = { family: 'inet', table: 'filter', name: 'allowed', only: undefined };

it('names sets for domains, in files too', () => {
  const lines = 'nftset=/example.com/.Example.ORG/inet#filter#allowed\nnftset=/#/4#edge#out';
  expect(readPlan(lines).nftset).toEqual([
    { domains: ['example.com.', 'example.org.'], sets: [allowed], isClosed: false },
    { domains: ['.'], sets: [{ family: 'ip', table: 'edge', name: 'out', only: 'ipv4' }], isClosed: false },
  ]);
});

it('closes all sets', () => {
  const lines = 'nftset=/example.com/inet#filter#allowed\nnftset-closed';
  expect(readPlan(lines).nftset).toEqual([{ domains: ['example.com.'], sets: [allowed], isClosed: true }]);
});

it.each([
  ['nftset=/example.com/allowed', 'nftset: not a set: "allowed"'],
  ['nftset=/example.com', 'nftset: no set: "/example.com"'],
  ['nftset-closed', '--nftset-closed: has no effect without --nftset'],
])('refuses %s', (line, problem) => {
  expect(readProblems(line).join()).toContain(problem);
});
