import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { expect, it } from 'vitest';
import { type NdotsFlags, planFromNdotsFlags } from './ndots-flags.ts';

function readProblems(flags: NdotsFlags): readonly string[] {
  const checked = planFromNdotsFlags(flags);
  return checked.kind === 'good' ? [] : checked.problems.map(describeProblem);
}

it('has the defaults of the flags', () => {
  expect(planFromNdotsFlags({})).toEqual({
    kind: 'good',
    value: { time: '60s', library: 'glibc', goesOn: false, rows: 20, output: 'text' },
  });
});

it('names all problems at once', () => {
  expect(readProblems({ for: '0', resolver: 'uclibc', rows: '1001', output: 'xml' })).toEqual([
    '--for: no time: "0". Give one such as 60s.',
    '--resolver: unknown: "uclibc". Give glibc, musl or go.',
    '--rows: out of range: "1001". Give a number of workloads from 1 to 1000.',
    '--output: unknown: "xml". Give text, json or kustomize.',
  ]);
});
