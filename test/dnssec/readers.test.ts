/**
 * Readers repeat signed answers to clients that want them, and answer all others as without `dnssec`.
 */
import type { Message } from '@portolan/dns/types.ts';
import { TYPE } from '@portolan/dns/types.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { writePrivateKey, writePublicKey } from '@portolan/plugins/dnssec/testing/keys.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import {
  makePacket,
  ReaderSubject,
  toComparableMessage,
  withOpt,
  withoutTtls,
} from '../coredns/reader-subject.ts';
import { namespace, service, slice } from '../list-watch/harness.ts';

const WEB = 'web.default.svc.cluster.local';
const MISSING = 'missing.default.svc.cluster.local';
const WITH_DO = withOpt(1232, [], 0x8000);

async function startCluster(
  lines = '',
): Promise<{ readonly subject: ReaderSubject; readonly api: ApiServerDouble }> {
  const api = await ApiServerDouble.start({
    objects: [namespace('default'), service('web', '10.96.0.10'), slice('web-1', 'web', '10.244.0.7')],
  });
  onTestFinished(() => api.stop());
  const { path, write } = await makeTemporaryFolder();
  await write('k.key', writePublicKey('cluster.local.', 257));
  await write('k.private', writePrivateKey());
  const subject = new ReaderSubject(
    `cluster.local:53 {\n ${lines}\n dnssec {\n key file ${path}/k\n }\n kubernetes {\n endpoint ${api.url}\n }\n}\n`,
  );
  await subject.engine.start();
  return { subject, api };
}

const listTypes = (message: Message | undefined): readonly string[] | undefined =>
  message &&
  [...message.answers, ...message.authorities].map(({ data }) =>
    data.kind === 'unknown' ? String(data.type) : data.kind,
  );

const toComparable = (message: Message): unknown => withoutTtls(toComparableMessage(message));

const count = (subject: ReaderSubject, what: string): number =>
  Number(
    new RegExp(`^coredns_dnssec_cache_${what}_total\\{.*\\} (\\d+)$`, 'm').exec(
      subject.engine.metrics.render(),
    )?.[1] ?? 0,
  );

describe.each([
  ['without cache', ''],
  ['with cache', 'cache'],
])('names of the cluster, %s', (_, lines) => {
  it('are answered by readers as without dnssec, for clients without DO', async () => {
    const { subject } = await startCluster(lines);
    expect(listTypes(subject.askTable(makePacket(WEB, 'A')))).toEqual(['A']);
    expect(listTypes(subject.askTable(makePacket(WEB, 'A', withOpt(1232))))).toEqual(['A']);
    expect(listTypes(subject.askTable(makePacket(MISSING, 'A')))).toEqual(['SOA']);
  });

  it.each([
    ['records', WEB, 'A', ['A', '46']],
    ['denials', MISSING, 'A', ['SOA', '46', '46', '47']],
    ['keys', 'cluster.local', 'DNSKEY', ['48', '46']],
  ])('are repeated with their signatures: %s', async (_what, name, type, types) => {
    const { subject } = await startCluster(lines);
    const packet = makePacket(name, type, WITH_DO);
    expect(subject.askTable(packet)).toBe(undefined);
    const first = await subject.askChain(packet);
    expect(listTypes(first)).toEqual(types);
    const second = await subject.askChain(packet);
    const given = subject.askTable(packet);
    if (given === undefined || second === undefined) throw new Error('no answer');
    // A cache counts TTLs down.
    expect(toComparable(given)).toEqual(toComparable(second));
    expect(given?.edns?.dnssecOk).toBe(true);
  });
});

it('names of the cluster have new signatures once it changes', async () => {
  const { subject, api } = await startCluster();
  const packet = makePacket(WEB, 'A', WITH_DO);
  await subject.askChain(packet);
  await subject.askChain(packet);
  expect(subject.askTable(packet)).toBeDefined();
  api.put(service('web', '10.96.0.11'));
  await waitUntil('the new address', () =>
    JSON.stringify(subject.askTable(makePacket(WEB, 'A')) ?? '').includes('10.96.0.11'),
  );
  expect(subject.askTable(packet)).toBe(undefined);
  const after = await subject.askChain(packet);
  expect(JSON.stringify(after)).toContain('10.96.0.11');
  expect(after?.answers.map(({ data }) => (data.kind === 'unknown' ? data.type : 0))).toEqual([
    0,
    TYPE.RRSIG,
  ]);
});

it('counts signatures that were there, for answers of readers too', async () => {
  const { subject } = await startCluster('prometheus');
  const packet = makePacket(WEB, 'A', WITH_DO);
  await subject.askChain(packet);
  await subject.askChain(packet);
  expect([count(subject, 'misses'), count(subject, 'hits')]).toEqual([1, 1]);
  subject.askTable(packet);
  subject.askTable(packet);
  expect([count(subject, 'misses'), count(subject, 'hits')]).toEqual([1, 3]);
});
