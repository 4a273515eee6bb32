import { writeFile } from 'node:fs/promises';
import { parseName } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { alias, makeQuery, record } from '@portolan/kernel/chain/testing/queries.ts';
import { EMPTY_ANSWER, toWholeAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FollowedWeights } from './followed-weights.ts';
import { createLoadbalanceHandler, type LoadbalanceDependencies } from './loadbalance.ts';
import type { LoadbalanceOptions } from './options.ts';
import { Weights } from './weights.ts';

const address = (last: number) => record('b.', { kind: 'A', address: `192.0.2.${last}` });
const cname = record('a.', { kind: 'CNAME', target: parseName('b.') });
const text = record('b.', { kind: 'TXT', strings: [Buffer.from('x')] });

async function order(random: number, answer: Answer): Promise<readonly string[]> {
  const shuffled = await createLoadbalanceHandler(undefined, { random: () => random }).handle(
    makeQuery('a.'),
    () => answer,
  );
  if (shuffled.kind === 'drop') throw new Error('no answer');
  return toWholeAnswer(shuffled).answers.map((each) => presentRecord(each).replace(/^.* IN \w+ /, ''));
}

it('shuffles addresses, with aliases before them', async () => {
  const answers = [address(1), text, address(2), address(3), cname];
  expect(await order(0.99, { ...EMPTY_ANSWER, answers })).toEqual([
    'b.',
    '"x"',
    '192.0.2.1',
    '192.0.2.2',
    '192.0.2.3',
  ]);
  expect(await order(0, { ...EMPTY_ANSWER, answers })).toEqual([
    'b.',
    '"x"',
    '192.0.2.2',
    '192.0.2.3',
    '192.0.2.1',
  ]);
});

it.each([
  { ...EMPTY_ANSWER, rcode: 3, answers: [text, cname] } satisfies Answer,
  { kind: 'servfail' } as const,
])('leaves other answers alone', async (answer) =>
  expect(
    await createLoadbalanceHandler(undefined, { random: () => 0 }).handle(makeQuery('a.'), () => answer),
  ).toBe(answer),
);

it('leaves an alias that is yet to be followed with its record', async () => {
  expect(await order(0, alias('a.', 'b.'))).toEqual(['b.']);
});

async function orderBy(
  options: Pick<LoadbalanceOptions, 'preferred'>,
  dependencies: LoadbalanceDependencies,
  answers: readonly ResourceRecord[],
  type = 'A',
): Promise<readonly string[]> {
  const handler = createLoadbalanceHandler(options, dependencies);
  const arranged = await handler.handle(makeQuery('b.', type), () => ({ ...EMPTY_ANSWER, answers }));
  if (arranged.kind === 'drop') throw new Error('no answer');
  return toWholeAnswer(arranged).answers.map((each) => presentRecord(each).replace(/^.* IN \w+ /, ''));
}

const WEIGHTS = Weights.parse('# a comment\n\n B\n192.0.2.1  3\n192.0.2.3 255\nc.\n192.0.2.2 9\n', 'w');
const NONE = { preferred: [] };

describe('with weights', () => {
  it.each([
    [0, 1],
    [2.9 / 259, 1],
    [3.1 / 259, 2],
    [3.9 / 259, 2],
    [4.1 / 259, 3],
    [258.9 / 259, 3],
  ])('the draw %d puts one address first', async (random, first) => {
    const order = await orderBy(NONE, { random: () => random, weights: () => WEIGHTS }, [
      address(1),
      address(2),
      address(3),
    ]);
    expect(order).toHaveLength(3);
    expect(order[0]).toBe(`192.0.2.${first}`);
  });

  it('each address comes first as often as its weight says', async () => {
    const firsts = new Map<string, number>();
    for (let draw = 0; draw < 259; draw += 1) {
      const random = () => (draw + 0.5) / 259;
      const [first = ''] = await orderBy(NONE, { random, weights: () => WEIGHTS }, [
        address(3),
        address(2),
        address(1),
      ]);
      firsts.set(first, (firsts.get(first) ?? 0) + 1);
    }
    expect(Object.fromEntries(firsts)).toEqual({ '192.0.2.1': 3, '192.0.2.2': 1, '192.0.2.3': 255 });
  });

  it('answers of other types keep their order', async () => {
    const dependencies = { random: () => 0.99, weights: () => WEIGHTS };
    expect(await orderBy(NONE, dependencies, [address(1), address(2)], 'MX')).toEqual([
      '192.0.2.1',
      '192.0.2.2',
    ]);
  });
});

describe('with preferred ranges', () => {
  const preferred = [
    { address: '192.0.2.4', prefix: 32 },
    { address: '192.0.2.2', prefix: 31 },
  ];

  it('their addresses come first, in the order of the ranges, and what is no address comes last', async () => {
    const order = await orderBy({ preferred }, { random: () => 0.99 }, [
      text,
      address(1),
      address(2),
      address(3),
      address(4),
      cname,
    ]);
    expect(order).toEqual(['b.', '192.0.2.4', '192.0.2.2', '192.0.2.3', '192.0.2.1', '"x"']);
  });

  it('they come before weights, which order the rest', async () => {
    const dependencies = { random: () => 0.99, weights: () => WEIGHTS };
    expect(
      await orderBy({ preferred: [{ address: '192.0.2.2', prefix: 32 }] }, dependencies, [
        address(1),
        address(2),
        address(3),
      ]),
    ).toEqual(['192.0.2.2', '192.0.2.3', '192.0.2.1']);
  });

  it('no reader answers, and no answer is stored', async () => {
    const handler = createLoadbalanceHandler({ preferred });
    const query = makeQuery('b.');
    await handler.handle(query, () => EMPTY_ANSWER);
    expect(query.isDerived).toBe(false);
    expect(handler.questions.includes(query.key, TYPE.A)).toBe(true);
    expect(createLoadbalanceHandler().questions.includes(query.key, TYPE.A)).toBe(false);
  });
});

describe('a file of weights', () => {
  async function follow(content: string, reload = 1000) {
    const folder = await makeTemporaryFolder();
    const path = await folder.write('w', content);
    const clock = new ManualClock();
    const log = new RecordingLog();
    const followed = new FollowedWeights({ path, reload }, { clock, log });
    onTestFinished(() => followed.stop());
    followed.start();
    const weight = () => followed.weights.of(address(1));
    const messages = () => log.records.map(({ message }) => message.replace(path, 'w'));
    const change = async (next: string, isDone: () => boolean) => {
      await writeFile(path, next);
      await waitUntil('the change', isDone, { step: () => clock.advance(reload) });
    };
    return { path, weight, messages, change, clock };
  }

  it('is followed, and keeps its weights while it has a fault', async () => {
    const { weight, messages, change } = await follow('b\n192.0.2.1 7\n');
    expect(weight()).toBe(7);
    await change('b\n192.0.2.1 0\n', () => messages().length === 2);
    expect(weight()).toBe(7);
    await change('b\n192.0.2.1 8\n', () => weight() === 8);
    expect(messages()).toEqual([
      'plugin/loadbalance: Successfully reloaded weight file w',
      'plugin/loadbalance: wrong weight value:"0" in weight file w',
      'plugin/loadbalance: Successfully reloaded weight file w',
    ]);
  });
});
