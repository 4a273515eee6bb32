import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import type { Forwarder } from '@portolan/kernel/forward/forwarder.ts';
import type { UpstreamState } from '@portolan/kernel/forward/upstream/upstream-state.ts';
import { inspectForwarders } from '@portolan/plugins/forward/inspected-forwarders.ts';
import { History } from '@portolan/server/history/history.ts';
import { DEFAULT_HISTORY } from '@portolan/server/plan/history-plan.ts';
import type { Server } from '@portolan/server/server.ts';
import { expect, it, onTestFinished } from 'vitest';
import { HistoryChanges } from './history-changes.ts';

const INTERVAL = 5_000;

type States = Readonly<Record<string, UpstreamState['kind']>>;

/** As much of a forwarder as is read. */
function makeForwarder(states: States): Forwarder {
  const upstreams = Object.entries(states).map(([upstream, kind]) => ({ upstream, state: { kind } }));
  return { statistics: () => ({ upstreams }), switchedOff: [] } as unknown as Forwarder;
}

function makeChanges(...states: readonly States[]) {
  let current = states;
  // As much of a server as is read.
  const server = {
    findings: { follow: () => () => {} },
    kinds: [],
    engine: { serverBlocks: { inspect: () => [inspectForwarders(current.map(makeForwarder))] } },
  } as unknown as Server;
  const clock = new ManualClock();
  const history = new History(DEFAULT_HISTORY, { clock, log: new RecordingLog() });
  const changes = new HistoryChanges(history, { server, clock });
  changes.start();
  onTestFinished(() => changes.stop());
  const look = (...next: readonly States[]) => {
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
