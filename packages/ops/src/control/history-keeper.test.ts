import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { DEFAULT_HISTORY, type HistoryPlan } from '@portolan/server/plan/history-plan.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';
import { expect, it, onTestFinished } from 'vitest';
import { HistoryKeeper } from './history-keeper.ts';
import { makeServer } from './testing/small-server.ts';

// No more of a plan is read.
const makePlan = (history: HistoryPlan | undefined): ServerPlan =>
  ({ history, engine: { groups: [], blocks: [] }, endpoints: [] }) as unknown as ServerPlan;

function makeKeeper() {
  const { server } = makeServer(() => ({ upstreams: [{ '10.0.0.2:53': 'down' }] }));
  const log = new RecordingLog();
  const keeper = new HistoryKeeper({ server, clock: new ManualClock(), log });
  onTestFinished(() => keeper.stop());
  const listSentences = async () => {
    const sentences: string[] = [];
    for await (const record of keeper.current?.read(0, Number.POSITIVE_INFINITY) ?? [])
      if (record.kind === 'change') sentences.push(record.sentence);
    return sentences;
  };
  return { keeper, log, listSentences };
}

it('notes nothing twice when another configuration has another history', async () => {
  const { keeper, listSentences } = makeKeeper();
  keeper.keep(makePlan(DEFAULT_HISTORY));
  const begun = ['the server started: version test', 'upstream server 10.0.0.2:53 is down'];
  expect(await listSentences()).toEqual(begun);
  keeper.keep(makePlan({ ...DEFAULT_HISTORY, octets: 2 * DEFAULT_HISTORY.octets }));
  await expect.poll(() => listSentences()).toEqual([...begun, 'another configuration is in force']);
});

it('notes another configuration also where its changes cannot be found', async () => {
  const { keeper, log, listSentences } = makeKeeper();
  keeper.keep(makePlan(DEFAULT_HISTORY));
  keeper.keep({ history: DEFAULT_HISTORY } as unknown as ServerPlan);
  await expect.poll(() => listSentences()).toContain('another configuration is in force');
  expect(log.records).toMatchObject([{ level: 'error' }]);
});

it('begins with a configuration that wants one, long after the server has started', async () => {
  const { keeper, listSentences } = makeKeeper();
  keeper.keep(makePlan(undefined));
  expect(keeper.current).toBeUndefined();
  keeper.keep(makePlan(DEFAULT_HISTORY));
  expect(await listSentences()).toEqual(['upstream server 10.0.0.2:53 is down']);
});
