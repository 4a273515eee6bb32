/**
 * Kubernetes Events about findings, on the API server double, with the rights of the component of the manifests alone.
 */
import { readFileSync } from 'node:fs';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { fixedBytes } from '@portolan/kubernetes/api/connection/byte-source.ts';
import { HttpConnection } from '@portolan/kubernetes/api/connection/http-connection.ts';
import { RestClient } from '@portolan/kubernetes/api/rest/rest-client.ts';
import { EventRecorder } from '@portolan/ops/events/event-recorder.ts';
import type { Finding } from '@portolan/server/reasons/finding.ts';
import { expect, it, onTestFinished } from 'vitest';
import type { AccessRule } from '../api-server/access.ts';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { findUnused, formatUser, readRules } from '../api-server/rbac.ts';

const ACCOUNT = { namespace: 'kube-system', name: 'kube-dns' };
const RULES = readRules([readFileSync('deploy/components/events/cluster-role.yaml', 'utf8')], ACCOUNT);
const PLAN = { service: { namespace: 'kube-system', name: 'kube-dns' }, configMap: undefined };
const FINDING: Finding = {
  kind: 'external-name-target',
  severity: 'problem',
  subject: 'shop/pay',
  sentence: 'service shop/pay is an ExternalName whose target 10.0.0.7 is an address',
  remedies: [],
};

async function startDouble(rules: readonly AccessRule[], clock: ManualClock): Promise<ApiServerDouble> {
  const user = formatUser(ACCOUNT);
  const double = await ApiServerDouble.start({
    access: { tokens: { secret: user }, rules: { [user]: rules } },
    tls: 'server',
    clock,
  });
  onTestFinished(() => double.stop());
  return double;
}

function makeReplica(double: ApiServerDouble, clock: ManualClock, instance: string) {
  const log = new RecordingLog();
  const user = { token: fixedBytes(Buffer.from('secret')) };
  const connection = new HttpConnection(
    { server: new URL(double.url), source: 'test', verify: false, user },
    clock,
  );
  const rest = new RestClient(connection, clock);
  const recorder = new EventRecorder(PLAN, { rest, clock, log, instance });
  onTestFinished(async () => {
    await recorder.stop();
    connection.close();
  });
  return { recorder, log };
}

it('are written once for all replicas, with the rights of the component', async () => {
  const clock = new ManualClock();
  const double = await startDouble(RULES, clock);
  const replicas = ['a', 'b'].map((name) => makeReplica(double, clock, name));
  for (const { recorder } of replicas) recorder.note([FINDING]);
  await waitUntil('both replicas', () => double.requests.length === 2);
  expect(double.requests.map(({ status }) => status).sort()).toEqual(['allowed', 'allowed']);
  await waitUntil('the event', () => double.store.list('events').length > 0);
  const [event, ...others] = double.store.list('events');
  expect(others).toEqual([]);
  expect(event?.object).toMatchObject({
    reason: 'external-name-target',
    regarding: { kind: 'Service', namespace: 'shop', name: 'pay' },
  });
  expect(findUnused(RULES, double.requests)).toEqual([]);
  for (const { log } of replicas) expect(log.records).toEqual([]);
});

it('are refused without the rights, which one line says', async () => {
  const clock = new ManualClock();
  const double = await startDouble([], clock);
  const { recorder, log } = makeReplica(double, clock, 'a');
  recorder.note([FINDING, { ...FINDING, subject: 'shop/other' }]);
  await waitUntil('the line', () => log.records.length > 0);
  expect(log.records).toMatchObject([
    { level: 'warn', message: 'events cannot be written', fields: { state: 'forbidden' } },
  ]);
  expect(log.text).toContain('events.k8s.io');
  expect(double.requests).toHaveLength(1);
});
