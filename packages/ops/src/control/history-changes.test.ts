import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { History } from '@portolan/server/history/history.ts';
import { DEFAULT_HISTORY } from '@portolan/server/plan/history-plan.ts';
import { expect, it, onTestFinished } from 'vitest';
import { HistoryChanges } from './history-changes.ts';
import { makeUpstreamServer, type UpstreamStates } from './testing/upstream-server.ts';

const INTERVAL = 5_000;

function makeChanges(...states: readonly UpstreamStates[]) {
  let current = states;
  const server = makeUpstreamServer(() => current);
  const clock = new ManualClock();
  const history = new History(DEFAULT_HISTORY, { clock, log: new RecordingLog() });
  const changes = new HistoryChanges({ history }, { server, clock });
  changes.start();
  onTestFinished(() => changes.stop());
  const look = (...next: readonly UpstreamStates[]) => {
    current = next;
    clock.advance(INTERVAL);
  };
  const listSentences = async () => {
    const sentences: string[] = [];
    for await (const record of history.read(0, Number.POSITIVE_INFINITY))
      if (record.kind === 'change') sentences.push(`${record.effect}: ${record.sentence}`);
    return sentences;
  };
  return { look, listSentences };
}

it('notes that an upstream server fails and replies again', async () => {
  const { look, listSentences } = makeChanges({ '10.0.0.2:53': 'well' });
  look({ '10.0.0.2:53': 'failing' });
  look({ '10.0.0.2:53': 'well' });
  expect(await listSentences()).toEqual([
    'bad: upstream server 10.0.0.2:53 is failing, well before',
    'good: upstream server 10.0.0.2:53 replies again',
  ]);
});

it('notes that a failing server is not used any more, once it is sure', async () => {
  const { look, listSentences } = makeChanges({ '10.0.0.2:53': 'down', '10.0.0.3:53': 'well' });
  look({});
  const begun = ['bad: upstream server 10.0.0.2:53 is down'];
  expect(await listSentences()).toEqual(begun);
  look({});
  look({});
  expect(await listSentences()).toEqual([...begun, 'good: upstream server 10.0.0.2:53 is not used any more']);
});

it('notes once that a server fails which another forwarder reaches', async () => {
  const states = [{ '10.0.0.2:53': 'down' }, { '10.0.0.2:53': 'well' }] as const;
  const { look, listSentences } = makeChanges(...states);
  look(...states);
  look(...states.toReversed());
  expect(await listSentences()).toEqual(['bad: upstream server 10.0.0.2:53 is down']);
});
