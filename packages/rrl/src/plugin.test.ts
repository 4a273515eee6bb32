import { expect, it } from 'vitest';
import { BLOCK, makeContext, makeQuery, makeReply, makeUse } from '../../testing/src/uses.ts';
import rrl from './plugin.ts';

const FOUND = makeReply(0, [{ name: 'a.example.org.', type: 1, ttl: 60, data: '192.0.2.9' }]);

function make(...lines: readonly string[]) {
  const context = makeContext();
  const instance = rrl.create(rrl.parse([makeUse('rrl', ...lines)], BLOCK), context);
  const ask = async () => await instance.handle(makeQuery('a.example.org.'), async () => FOUND);
  return { ask, instance, context };
}

it('sends nothing for what exceeds its rate, but some truncated, and counts it', async () => {
  const { ask, context } = make('responses-per-second 1', 'slip-ratio 2');
  expect(await ask()).toBe(FOUND);
  expect(await ask()).toEqual({ kind: 'drop' });
  const slipped = await ask();
  expect(slipped.kind === 'message' && [...slipped.wire]).toEqual([0, 0, 0x82, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  expect(context.counts).toEqual(new Map([['responses_exceeded_total', 2]]));
});

it('drops requests without asking the plugins behind', async () => {
  const { ask, context } = make('requests-per-second 1');
  expect(await ask()).toBe(FOUND);
  expect(await ask()).toEqual({ kind: 'drop' });
  expect(context.counts).toEqual(new Map([['requests_exceeded_total', 1]]));
});

it('only counts with report-only', async () => {
  const { ask, context } = make('responses-per-second 1', 'requests-per-second 1', 'report-only');
  for (let turn = 0; turn < 3; turn += 1) expect(await ask()).toBe(FOUND);
  expect(context.counts).toEqual(
    new Map([
      ['requests_exceeded_total', 2],
      ['responses_exceeded_total', 2],
    ]),
  );
});

it('sees no question if nothing is limited', () => {
  expect(make().instance.questions).toEqual({ kind: 'within', zones: [] });
  expect(make('errors-per-second 5').instance.questions).toEqual({ kind: 'within', zones: ['example.org.'] });
});
