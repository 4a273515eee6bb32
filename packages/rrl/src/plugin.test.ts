import { EMPTY_ANSWER, toKey } from '@portolan/plugin';
import { expect, it } from 'vitest';
import {
  askPlugin,
  makeAnswer,
  makeContext,
  makePlugin,
  makeQuery,
  makeRecord,
  makeUse,
} from '../../testing/src/uses.ts';
import rrl from './plugin.ts';

const FOUND = makeAnswer(0, [makeRecord('a.example.org.', { kind: 'A', address: '192.0.2.9' })]);

function make(...lines: readonly string[]) {
  const context = makeContext();
  const plugin = makePlugin(rrl, context, makeUse('rrl', ...lines));
  const ask = async (query = makeQuery('a.example.org.')) => await askPlugin(plugin, query, FOUND);
  return { ask, plugin, context };
}

it('sends nothing for what exceeds its rate, but some truncated, and counts it', async () => {
  const { ask, context } = make('responses-per-second 1', 'slip-ratio 2');
  expect(await ask()).toBe(FOUND);
  expect(await ask()).toEqual({ kind: 'drop' });
  expect(await ask()).toEqual({ ...EMPTY_ANSWER, truncated: true });
  expect(context.counts).toEqual(new Map([['coredns_rrl_responses_exceeded_total', 2]]));
});

it('drops requests without asking the plugins behind', async () => {
  const { ask, context } = make('requests-per-second 1');
  expect(await ask()).toBe(FOUND);
  expect(await ask()).toEqual({ kind: 'drop' });
  expect(context.counts).toEqual(new Map([['coredns_rrl_requests_exceeded_total', 1]]));
});

it('only counts with report-only', async () => {
  const { ask, context } = make('responses-per-second 1', 'requests-per-second 1', 'report-only');
  for (let turn = 0; turn < 3; turn += 1) expect(await ask()).toBe(FOUND);
  expect(context.counts).toEqual(
    new Map([
      ['coredns_rrl_requests_exceeded_total', 2],
      ['coredns_rrl_responses_exceeded_total', 2],
    ]),
  );
});

it('keeps what it limits from readers', async () => {
  const query = makeQuery('a.example.org.');
  await make('responses-per-second 1').ask(query);
  expect(query.isDerived).toBe(false);
});

it('sees no question if nothing is limited', () => {
  const matches = (...lines: readonly string[]) => [
    ...(make(...lines).plugin.handler?.questions.matches() ?? []),
  ];
  expect(matches()).toEqual([]);
  expect(matches('errors-per-second 5')).toEqual([
    { name: { kind: 'suffix', name: toKey('example.org.') }, types: 'all' },
  ]);
});
