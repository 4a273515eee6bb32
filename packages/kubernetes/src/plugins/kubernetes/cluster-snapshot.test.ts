import { join } from 'node:path';
import { TYPE } from '@portolan/dns/types.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, it } from 'vitest';
import { readSnapshot, writeSnapshot } from '../../snapshot/snapshot-file.ts';
import { keepSnapshot, restoreSnapshot } from './cluster-snapshot.ts';
import { AskableCluster, question } from './testing/askable-cluster.ts';

const owner = { domain: 'cluster.local.', source: 'https://10.0.0.1:6443' };

async function makeKept() {
  const file = join((await makeTemporaryFolder()).path, 'state');
  const clock = new ManualClock();
  const log = new RecordingLog();
  const keep = ({ cluster }: AskableCluster) =>
    keepSnapshot({
      settings: { file, maxAge: 0, maxAgeName: '--snapshot-max-age' },
      owner: async () => owner,
      age: () => 0,
      cluster,
      clock,
      log,
    });
  return { file, clock, log, keep };
}

const askAddresses = (cluster: AskableCluster, name: string) =>
  cluster.askTable(question(`${name}.svc.cluster.local.`, TYPE.A))?.answers.map(({ data }) => data);

/** As 0.1.0 wrote them, and as 0.2.0 did before it was released. */
const FORMER = [
  '["N","blue"]',
  '["S","blue","db",0,[["http","TCP",80]]]',
  '["E","blue","db-1","db",[[["10.244.0.9"],[["http","TCP",80]]]]]',
  'SDgAFcHJvYmUHZGVmYXVsdAIAAIAYAAAAAQAAAAAAAAAAUAAEaHR0cA==',
];

it('a file of the former format is used, and replaced by records', async () => {
  const { file, log, keep } = await makeKept();
  await writeSnapshot(file, owner, { kind: 'lines', lines: FORMER }, 0);
  const first = new AskableCluster('coredns');
  expect(await restoreSnapshot(keep(first), first.cluster)).toBe(true);
  expect(askAddresses(first, 'db.blue')).toMatchObject([{ address: '10.244.0.9' }]);
  expect(first.cluster.contents.service('default', 'probe')?.address).toEqual({ kind: 'headless' });

  for (const sink of [first.cluster.services, first.cluster.endpoints, first.cluster.namespaces])
    sink.listStarted();
  first.upsert({ kind: 'Namespace', name: 'blue' });
  first.upsert({
    ...({ kind: 'Service', namespace: 'blue', name: 'web', ports: [] } as const),
    address: { kind: 'clusterIPs', addresses: ['10.96.0.1'] },
  });
  for (const sink of [first.cluster.services, first.cluster.endpoints, first.cluster.namespaces])
    sink.listCompleted();
  first.cluster.settle();
  await keep(first).stop();
  expect(await readSnapshot(file, owner)).toMatchObject({ content: { kind: 'octets' }, count: 2 });

  const second = new AskableCluster('coredns');
  expect(await restoreSnapshot(keep(second), second.cluster)).toBe(true);
  expect(askAddresses(second, 'web.blue')).toMatchObject([{ address: '10.96.0.1' }]);
  // It may have come since then.
  expect(askAddresses(second, 'db.blue')).toEqual([]);
  expect(log.records.filter(({ level }) => level !== 'info' && level !== 'debug')).toEqual([]);
});

it('records of another layout are ignored with a warning', async () => {
  const { file, log, keep } = await makeKept();
  const before = new AskableCluster('coredns');
  before.list([{ kind: 'Namespace', name: 'blue' }]);
  const octets = Buffer.concat(before.cluster.snapshot().parts);
  octets.writeUInt32LE(77);
  await writeSnapshot(file, owner, { kind: 'octets', parts: [octets], count: 1 }, 0);
  const after = new AskableCluster('coredns');
  expect(await restoreSnapshot(keep(after), after.cluster)).toBe(false);
  expect(log.records.filter(({ level }) => level === 'warn')).toMatchObject([
    { message: 'snapshot ignored', fields: { file, reason: /another version/, remedy: /another file/ } },
  ]);
});

it('pods come back, and those that cannot be read are passed over', async () => {
  const { file, keep } = await makeKept();
  const before = new AskableCluster('coredns', { pods: 'verified' });
  const pod = (name: string, ...addresses: readonly string[]) =>
    ({ kind: 'Pod', namespace: 'blue', name, addresses }) as const;
  before.list([{ kind: 'Namespace', name: 'blue' }, pod('a', '10.0.0.1', 'fd00::1'), pod('none')]);
  const { parts, count } = before.cluster.snapshot();
  await writeSnapshot(
    file,
    owner,
    { kind: 'octets', parts: [...parts, Buffer.from('odd 10.0.0.2\n')], count },
    0,
  );
  const after = new AskableCluster('coredns', { pods: 'verified' });
  expect(await restoreSnapshot(keep(after), after.cluster)).toBe(true);
  expect(after.cluster.pods.count()).toBe(2);
  expect(after.cluster.snapshot()).toEqual(before.cluster.snapshot());
});
