import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import type { Cluster } from '@portolan/kubernetes/publish/cluster.ts';
import { History } from '@portolan/server/history/history.ts';
import { DEFAULT_HISTORY } from '@portolan/server/plan/history-plan.ts';
import type { Finding } from '@portolan/server/reasons/finding.ts';
import { expect, it, onTestFinished } from 'vitest';
import { HistoryChanges } from './history-changes.ts';
import { makeServer, type ServerParts, type UpstreamStates } from './testing/small-server.ts';

const INTERVAL = 5_000;

function makeChanges(begin: ServerParts) {
  let current = begin;
  const { server, report } = makeServer(() => current);
  const clock = new ManualClock();
  const log = new RecordingLog();
  const history = new History(DEFAULT_HISTORY, { clock, log });
  const changes = new HistoryChanges({ history }, { server, clock, log });
  changes.start();
  onTestFinished(() => changes.stop());
  const look = (next: ServerParts) => {
    current = next;
    clock.advance(INTERVAL);
  };
  const listSentences = async () => {
    const sentences: string[] = [];
    for await (const record of history.read(0, Number.POSITIVE_INFINITY))
      if (record.kind === 'change') sentences.push(`${record.effect}: ${record.sentence}`);
    return sentences;
  };
  const find = (next: ServerParts, findings: readonly Finding[]) => {
    current = next;
    report(findings);
  };
  return { look, find, listSentences, stop: () => changes.stop() };
}

it('notes that an upstream server fails and replies again', async () => {
  const { look, listSentences } = makeChanges({ upstreams: [{ '10.0.0.2:53': 'well' }] });
  look({ upstreams: [{ '10.0.0.2:53': 'failing' }] });
  look({ upstreams: [{ '10.0.0.2:53': 'well' }] });
  expect(await listSentences()).toEqual([
    'bad: upstream server 10.0.0.2:53 is failing, well before',
    'good: upstream server 10.0.0.2:53 replies again',
  ]);
});

it('notes that a silent server has replied, though it fails again', async () => {
  const { look, listSentences } = makeChanges({ upstreams: [{ '10.0.0.2:53': 'silent' }] });
  look({ upstreams: [{ '10.0.0.2:53': 'failing' }] });
  expect(await listSentences()).toEqual([
    'bad: upstream server 10.0.0.2:53 is silent',
    'good: upstream server 10.0.0.2:53 replies again',
    'bad: upstream server 10.0.0.2:53 is failing, silent before',
  ]);
});

it('notes that a failing server is not used any more, once it is sure', async () => {
  const { look, listSentences } = makeChanges({
    upstreams: [{ '10.0.0.2:53': 'down', '10.0.0.3:53': 'well' }],
  });
  look({});
  const begun = ['bad: upstream server 10.0.0.2:53 is down'];
  expect(await listSentences()).toEqual(begun);
  look({});
  look({});
  expect(await listSentences()).toEqual([...begun, 'good: upstream server 10.0.0.2:53 is not used any more']);
});

it('notes at its end that a failing server is not used any more: the next process begins without it', async () => {
  const { listSentences, stop } = makeChanges({
    upstreams: [{ '10.0.0.2:53': 'down', '10.0.0.3:53': 'well' }],
  });
  stop();
  expect(await listSentences()).toEqual([
    'bad: upstream server 10.0.0.2:53 is down',
    'good: upstream server 10.0.0.2:53 is not used any more',
  ]);
});

it('notes once that a server fails which another forwarder reaches', async () => {
  const states: readonly UpstreamStates[] = [{ '10.0.0.2:53': 'down' }, { '10.0.0.2:53': 'well' }];
  const { look, listSentences } = makeChanges({ upstreams: states });
  look({ upstreams: states });
  look({ upstreams: states.toReversed() });
  expect(await listSentences()).toEqual(['bad: upstream server 10.0.0.2:53 is down']);
});

it('notes that the names of a cluster are known before its objects are followed again', async () => {
  const run: (() => void)[] = [];
  // As much of a cluster as is read.
  const cluster = {
    hasBeenKnown: false,
    whenKnown: (known: () => void) => run.push(known),
    log: { follow: () => {} },
    names: { apexes: ['cluster.local.'] },
  };
  const makeParts = (state: string): ServerParts => ({
    cluster: cluster as unknown as Cluster,
    kinds: [{ kind: 'services', state, lists: 0, words: undefined }],
  });
  const { look, listSentences } = makeChanges(makeParts('listing'));
  look(makeParts('waiting'));
  look(makeParts('current'));
  cluster.hasBeenKnown = true;
  for (const known of run) known();
  look(makeParts('current'));
  expect(await listSentences()).toEqual([
    'bad: services are not followed: waiting',
    'good: the names of cluster.local. are known',
    'good: services are followed again',
  ]);
});

it('notes what a finding is about before the finding, and its end likewise', async () => {
  const { find, listSentences } = makeChanges({ upstreams: [{ '10.0.0.2:53': 'well' }] });
  const subject = '10.0.0.2:53';
  const finding = { kind: 'upstream-unreachable', severity: 'problem', subject, remedies: [] } as const;
  find({ upstreams: [{ [subject]: 'silent' }] }, [{ ...finding, sentence: 'it is silent' }]);
  find({ upstreams: [{ [subject]: 'well' }] }, []);
  expect(await listSentences()).toEqual([
    'bad: upstream server 10.0.0.2:53 is silent, well before',
    'bad: finding upstream-unreachable: it is silent',
    'good: upstream server 10.0.0.2:53 replies again',
    'good: finding ended: upstream-unreachable of 10.0.0.2:53',
  ]);
});

it('notes that the server is not ready, also without findings', async () => {
  const { look, listSentences } = makeChanges({ readiness: { ready: false, reason: 'publishing names' } });
  for (let looks = 0; looks < 3; looks += 1) look({});
  expect(await listSentences()).toEqual([]);
  look({ readiness: { ready: false, reason: 'etcd: not read yet' } });
  look({});
  expect(await listSentences()).toEqual([
    'bad: the server is not ready: etcd: not read yet',
    'good: the server is ready',
  ]);
});
