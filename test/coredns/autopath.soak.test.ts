/**
 * `autopath @kubernetes`, by the program `coredns`: pods of an API server that ask from addresses of loopback.
 */
import { rcodeName } from '@portolan/dns/mnemonics.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import type { Message } from '@portolan/dns/types.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { answerFromZone, makeAddress } from '@portolan/testing/upstream/reactions.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { namespace, service } from '../list-watch/harness.ts';
import { startCoredns } from '../resolver/forwarding-programs.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

function pod(name: string, podIP: string, spec: object = {}, ofNamespace = 'team-a'): KubernetesObject {
  return {
    kind: 'Pod',
    metadata: { name, namespace: ofNamespace },
    spec,
    status: { phase: 'Running', podIP },
  };
}

const OWN_LIST = {
  dnsPolicy: 'None',
  dnsConfig: { searches: ['team-b.svc.cluster.local', 'corp.example'] },
};
const OBJECTS: readonly KubernetesObject[] = [
  ...['team-a', 'team-b', 'shop'].map(namespace),
  service('web', '10.96.0.1', 'team-a'),
  service('cart', '10.96.0.2', 'shop'),
  pod('plain', '127.0.0.21'),
  pod('more', '127.0.0.22', { dnsConfig: { searches: ['corp.example'] } }),
  pod('own', '127.0.0.23', OWN_LIST),
  pod('host', '127.0.0.24', { dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }),
  pod('node', '127.0.0.25', { dnsPolicy: 'Default' }),
  pod('first', '127.0.0.26'),
  pod('second', '127.0.0.26', {}, 'team-b'),
];

const askFrom = (from: string, port: number, name: string, type: 'A' | 'AAAA' = 'A'): Promise<Message> =>
  ask({ address: '127.0.0.1', port }, name, type, { from });

/** Asks until the answer has this many records. */
async function askUntil(records: number, ask: () => Promise<readonly string[]>): Promise<void> {
  for (const end = performance.now() + 30_000; (await ask()).length !== records; )
    if (performance.now() > end) throw new Error(`never ${records} records`);
}

async function start(objects: readonly KubernetesObject[] = OBJECTS) {
  const double = await ApiServerDouble.start({ objects: [...objects] });
  onTestFinished(() => double.stop());
  const upstream = await LoopbackUpstream.start(
    answerFromZone({
      'www.example.com. A': [makeAddress('192.0.2.80')],
      'files.corp.example. A': [makeAddress('192.0.2.81')],
      'web. A': [makeAddress('192.0.2.99')],
    }),
  );
  onTestFinished(() => upstream.stop());
  const { server, metrics } = await startCoredns(
    [
      'autopath @kubernetes',
      'cache 30',
      `kubernetes cluster.local {\n endpoint ${double.url}\n pods verified\n }`,
      `forward . ${upstream.address}`,
    ].join('\n'),
  );
  const ask = async (client: number, name: string, type?: 'A' | 'AAAA') => {
    const { header, answers } = await askFrom(`127.0.0.${client}`, server.port, name, type);
    // Times to live count down in the cache.
    const shown = answers.map((record) => presentRecord({ ...record, ttl: 0 }));
    return shown.length > 0 ? shown : [rcodeName(header.rcode)];
  };
  return { ask, double, metrics };
}

const WWW = 'www.example.com.team-a.svc.cluster.local.';
const FOUND = [`${WWW} 0 IN CNAME www.example.com.`, 'www.example.com. 0 IN A 192.0.2.80'];

it('answers each pod by its own search list, and only those whose list is known', async () => {
  const { ask, metrics } = await start();
  for (let round = 0; round < 2; round += 1) {
    expect(await ask(21, WWW)).toEqual(FOUND);
    expect(await ask(21, WWW.replace('team-a', 'team-b'))).toEqual(['NXDOMAIN']);
    for (const client of [1, 24, 25, 26]) expect(await ask(client, WWW)).toEqual(['NXDOMAIN']);
    expect(await ask(21, 'cart.shop.team-a.svc.cluster.local.')).toEqual([
      'cart.shop.team-a.svc.cluster.local. 0 IN CNAME cart.shop.svc.cluster.local.',
      'cart.shop.svc.cluster.local. 0 IN A 10.96.0.2',
    ]);
  }
  const files = 'files.corp.example.team-a.svc.cluster.local.';
  expect(await ask(21, files)).toHaveLength(2);
  expect(await ask(22, 'files.x.team-a.svc.cluster.local.')).toEqual(['NXDOMAIN']);
  // The pod has its own list only: of another namespace, and without the cluster's domain.
  expect(await ask(23, WWW)).toEqual(['NXDOMAIN']);
  expect(await ask(23, 'www.example.com.team-b.svc.cluster.local.')).toHaveLength(2);
  expect(await ask(23, 'cart.shop.team-b.svc.cluster.local.')).toEqual(['NXDOMAIN']);
  // A name that exists is the service itself, and one that does not may be meant as a whole.
  expect(await ask(21, 'web.team-a.svc.cluster.local.')).toEqual([
    'web.team-a.svc.cluster.local. 0 IN A 10.96.0.1',
  ]);
  expect(await ask(21, 'web.team-a.svc.cluster.local.', 'AAAA')).toEqual(['NOERROR']);
  expect(await ask(21, 'x.web.team-a.svc.cluster.local.')).toEqual(['NXDOMAIN']);
  expect(await metrics()).toMatch(/^coredns_autopath_success_total\{server="dns:.*"\} 6$/m);
});

it('follows pods that come, go and change their addresses', async () => {
  const { ask, double } = await start();
  double.delete('Pod', 'first', 'team-a');
  const ofTeamB = 'www.example.com.team-b.svc.cluster.local.';
  await askUntil(2, () => ask(26, ofTeamB));
  expect(await ask(26, WWW)).toEqual(['NXDOMAIN']);
  double.put(pod('late', '127.0.0.27'));
  await askUntil(2, () => ask(27, WWW));
  double.put(pod('late', '127.0.0.28'));
  await askUntil(2, () => ask(28, WWW));
  expect(await ask(27, WWW)).toEqual(['NXDOMAIN']);
});

it('leaves names that exist to readers', async () => {
  const { ask, metrics } = await start();
  const bySlowPath = async () => {
    const [, count] = /^portolan_slow_path_queries_total (\d+)$/m.exec(await metrics()) ?? [];
    return Number(count);
  };
  const names = [
    'web.team-a.svc.cluster.local.',
    'cart.shop.svc.cluster.local.',
    'www.example.com.cluster.local.',
  ];
  const before = await bySlowPath();
  expect(before).toBeGreaterThanOrEqual(0);
  for (const name of names) for (const type of ['A', 'AAAA'] as const) await ask(21, name, type);
  expect(await bySlowPath()).toBe(before);
  await ask(21, WWW);
  expect(await bySlowPath()).toBe(before + 1);
});

it('asks another server block for names that its own has no plugin for', async () => {
  const double = await ApiServerDouble.start({ objects: [...OBJECTS] });
  onTestFinished(() => double.stop());
  const upstream = await LoopbackUpstream.start(
    answerFromZone({ 'www.example.com. A': [makeAddress('192.0.2.80')] }),
  );
  onTestFinished(() => upstream.stop());
  const port = await findFreePort();
  const kubernetes = `kubernetes cluster.local {\n endpoint ${double.url}\n pods verified\n }`;
  const folder = await makeTemporaryFolder();
  const conf = await folder.write(
    'Corefile',
    `cluster.local:${port} {\n bind 127.0.0.1\n autopath @kubernetes\n ${kubernetes}\n}\n` +
      `.:${port} {\n bind 127.0.0.1\n forward . ${upstream.address}\n}\n`,
  );
  const program = runPortolan(['coredns', '-conf', conf]);
  await waitUntil('the banner', () => program.output.includes('linux/') || program.ended !== undefined);
  const { answers } = await askFrom('127.0.0.21', port, WWW);
  expect(answers.map((record) => presentRecord({ ...record, ttl: 0 }))).toEqual(FOUND);
  const { header } = await askFrom('127.0.0.21', port, WWW.replace('www', 'gone'));
  expect(rcodeName(header.rcode)).toBe('NXDOMAIN');
});

it('knows the pods of several clusters by kubernetai', async () => {
  const objects = (of: string, client: string) => [
    ...['team-a', 'shop'].map(namespace),
    service(`of-${of}`, '10.96.0.2', 'shop'),
    pod('plain', client),
    pod('both', '127.0.0.29'),
  ];
  const doubles = await Promise.all([
    ApiServerDouble.start({ objects: objects('one', '127.0.0.21') }),
    ApiServerDouble.start({ objects: objects('two', '127.0.0.22') }),
  ]);
  for (const double of doubles) onTestFinished(() => double.stop());
  const upstream = await LoopbackUpstream.start(
    answerFromZone({ 'www.example.com. A': [makeAddress('192.0.2.80')] }),
  );
  onTestFinished(() => upstream.stop());
  const uses = doubles.map(
    ({ url }) => `kubernetai cluster.local {\n endpoint ${url}\n pods verified\n fallthrough\n }`,
  );
  const { server, metrics } = await startCoredns(
    ['autopath @kubernetai', 'cache 30', ...uses, `forward . ${upstream.address}`].join('\n'),
  );
  const ask = async (client: number, name: string) => {
    const { header, answers } = await askFrom(`127.0.0.${client}`, server.port, name);
    const shown = answers.map((record) => presentRecord({ ...record, ttl: 0 }));
    return shown.length > 0 ? shown : [rcodeName(header.rcode)];
  };
  for (const client of [21, 22]) {
    expect(await ask(client, WWW)).toEqual(FOUND);
    for (const of of ['of-one', 'of-two'])
      expect(await ask(client, `${of}.shop.team-a.svc.cluster.local.`)).toHaveLength(2);
  }
  // Each of these clusters has a pod with the address.
  for (const client of [1, 29]) expect(await ask(client, WWW)).toEqual(['NXDOMAIN']);
  expect(await metrics()).toMatch(/^coredns_autopath_success_total\{server="dns:.*"\} 6$/m);
});
