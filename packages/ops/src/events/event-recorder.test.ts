import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { RestError } from '@portolan/kubernetes/api/rest/rest-client.ts';
import type { JsonRecord } from '@portolan/kubernetes/objects/trim/fields.ts';
import type { Finding } from '@portolan/server/reasons/finding.ts';
import { describe, expect, it } from 'vitest';
import { EventRecorder } from './event-recorder.ts';

const PLAN = {
  service: { namespace: 'kube-system', name: 'kube-dns' },
  configMap: { namespace: 'kube-system', name: 'dns' },
};
const HOUR = 3_600_000;

const finding = (kind: Finding['kind'], subject: string, sentence = 'it is wrong'): Finding => ({
  kind,
  severity: 'problem',
  subject,
  sentence,
  remedies: [{ sentence: 'Do this.', command: 'kubectl get svc' }],
});

/** @param refusal what the API server says now */
function makeRecorder(refusal: () => number | undefined = () => undefined, answers = async () => {}) {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const written: { readonly path: string; readonly object: JsonRecord }[] = [];
  let attempts = 0;
  const rest = {
    async create(path: string, object: JsonRecord) {
      attempts += 1;
      await answers();
      const status = refusal();
      if (status !== undefined) throw new RestError(`refused: ${status}`, status);
      written.push({ path, object });
      return object;
    },
    abort() {},
  };
  const recorder = new EventRecorder(PLAN, { rest, clock, log, instance: 'kube-dns-1' });
  return { recorder, clock, log, written, attempts: () => attempts };
}

/** Until what is under way has ended. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

it('is written on the object that the finding concerns, once in an hour', async () => {
  const { recorder, clock, written } = makeRecorder();
  const findings = [
    finding('external-name-target', 'shop/pay', 'service shop/pay is an ExternalName of an address'),
    finding('config-rejected', 'stubDomains', 'first'),
    finding('config-rejected', 'upstreamNameservers', 'second'),
    finding('foreign-cluster-domain', 'cluster.lokal.'),
    finding('upstream-unreachable', '10.0.0.2:53'),
  ];
  for (let reports = 0; reports < 200; reports += 1) {
    recorder.note(findings);
    await settle();
    clock.advance(15_000);
  }
  expect(written.slice(0, 3)).toMatchObject([
    {
      path: '/apis/events.k8s.io/v1/namespaces/shop/events',
      object: {
        kind: 'Event',
        type: 'Warning',
        reason: 'external-name-target',
        action: 'Check',
        metadata: { namespace: 'shop', name: expect.stringMatching(/^pay\.[0-9a-f]{16}$/) },
        eventTime: '2026-01-01T00:00:00.000000Z',
        regarding: { apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: 'pay' },
        note: 'Service shop/pay is an ExternalName of an address. Do this. kubectl get svc',
        reportingController: 'portolan',
        reportingInstance: 'kube-dns-1',
      },
    },
    {
      object: {
        regarding: { kind: 'ConfigMap', name: 'dns' },
        note: 'First. Second. Do this. kubectl get svc',
      },
    },
    { object: { regarding: { kind: 'Service', name: 'kube-dns' }, reason: 'foreign-cluster-domain' } },
  ]);
  // 50 minutes.
  expect(written).toHaveLength(3);
  clock.advance(HOUR);
  recorder.note(findings);
  await settle();
  expect(written).toHaveLength(6);
  expect(written[3]?.object['metadata']).not.toEqual(written[0]?.object['metadata']);
});

it('has the same name in all replicas, of which the API server takes one', async () => {
  const one = makeRecorder();
  const other = makeRecorder(() => 409);
  for (const { recorder } of [one, other]) recorder.note([finding('external-name-target', 'shop/pay')]);
  await settle();
  expect([one.written.length, other.written.length]).toEqual([1, 0]);
  other.clock.advance(30_000);
  other.recorder.note([finding('external-name-target', 'shop/pay')]);
  await settle();
  expect(other.attempts()).toBe(1);
  expect(other.log.records).toEqual([]);
});

it('has a note within the bounds of the API server, without control characters', async () => {
  const { recorder, written } = makeRecorder();
  recorder.note([finding('external-name-target', 'shop/pay', `a\u001b[2J\n${'é'.repeat(2_000)}`)]);
  await settle();
  const note = String(written[0]?.object['note']);
  expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1_024);
  expect(note).toMatch(/^A \[2J é+…$/);
});

describe('a refusal', () => {
  it('for lack of rights is said once, with the rule, and tried again after ten minutes', async () => {
    let isForbidden = true;
    const { recorder, clock, log, written, attempts } = makeRecorder(() => (isForbidden ? 403 : undefined));
    const report = async (times: number) => {
      for (let reports = 0; reports < times; reports += 1) {
        recorder.note([finding('external-name-target', 'shop/pay'), finding('config-rejected', 'a')]);
        await settle();
        clock.advance(15_000);
      }
    };
    await report(39);
    expect(attempts()).toBe(1);
    await report(41);
    expect(attempts()).toBe(2);
    expect(log.records.filter(({ level }) => level === 'warn')).toMatchObject([
      {
        message: 'events cannot be written',
        fields: {
          state: 'forbidden',
          hint: 'Add this rule to the ClusterRole: {apiGroups: ["events.k8s.io"], resources: [events], verbs: [create]}',
        },
      },
    ]);
    isForbidden = false;
    await report(41);
    expect(written).toHaveLength(2);
    expect(log.records.at(-1)).toMatchObject({ level: 'info', message: 'events can be written again' });
  });

  it('of one that nobody can take is not repeated, and the next one is written', async () => {
    let status: number | undefined = 404;
    const { recorder, written, attempts } = makeRecorder(() => status);
    recorder.note([finding('external-name-target', 'gone/pay')]);
    await settle();
    status = undefined;
    recorder.note([finding('external-name-target', 'gone/pay'), finding('external-name-target', 'shop/pay')]);
    await settle();
    expect([attempts(), written.length]).toEqual([2, 1]);
  });
});

it('is bounded while the API server does not answer, and asks it one at a time', async () => {
  let answer: () => void = () => {};
  const silence = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { recorder, written, attempts } = makeRecorder(undefined, () => silence);
  const many = Array.from({ length: 5_000 }, (_, index) => finding('external-name-target', `shop/s${index}`));
  for (let reports = 0; reports < 3; reports += 1) recorder.note(many);
  await settle();
  expect(attempts()).toBe(1);
  answer();
  await waitUntil('those that wait', () => written.length === 50);
  await settle();
  expect(written).toHaveLength(50);
  await recorder.stop();
  recorder.note(many);
  await settle();
  expect(written).toHaveLength(50);
});
