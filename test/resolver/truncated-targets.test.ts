/**
 * Local aliases whose target an upstream server truncates: the answer has TC and is not kept, and over TCP it is whole.
 */
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { ReceivedQuery } from '@portolan/testing/upstream/received-query.ts';
import { makeAddressRecord, reply, replyMessage } from '@portolan/testing/upstream/reply.ts';
import { expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { startEtcd } from '../etcd/etcd-server.ts';
import { namespace, service } from '../list-watch/harness.ts';
import { endAllPrograms, runPortolan, servePortolan } from '../support/portolan.ts';
import { itWithTool } from '../support/tools.ts';

/** One of two addresses over UDP, with TC. Over TCP both, but for names with `cut`: there is no reply. */
function answerInParts({ query, over, send, connection }: ReceivedQuery): void {
  const all = ['192.0.2.1', '192.0.2.2'].map((address) => makeAddressRecord(query, address));
  const isCut = query.questions[0]?.name.startsWith('cut') === true;
  if (over === 'udp') {
    const header = { ...replyMessage(query).header, truncated: true };
    send(reply(query, { answers: all.slice(0, 1), header }));
  } else if (isCut) connection?.destroy();
  else send(reply(query, { answers: all }));
}

async function startCluster() {
  const external = (name: string, externalName: string) => ({
    ...service(name),
    spec: { type: 'ExternalName', externalName },
  });
  const balanced = (name: string, hostname: string) => ({
    ...service(name),
    status: { loadBalancer: { ingress: [{ hostname }] } },
  });
  const objects = [
    namespace('default'),
    external('whole', 'whole.test'),
    external('cut', 'cut.test'),
    balanced('balanced', 'balanced.test'),
    balanced('cut-balanced', 'cut-balanced.test'),
  ];
  const [api, upstream] = [
    await ApiServerDouble.start({ objects }),
    await LoopbackUpstream.start(answerInParts),
  ];
  onTestFinished(() => api.stop());
  onTestFinished(() => upstream.stop());
  onTestFinished(endAllPrograms);
  return { api: api.url, upstream: `127.0.0.1:${upstream.port}` };
}

async function startCorefile(...flags: readonly string[]): Promise<DnsServer> {
  const { api, upstream } = await startCluster();
  const folder = await makeTemporaryFolder();
  const port = await findFreePort();
  const zone = await folder.write(
    'zone',
    '@ 60 IN SOA ns host 1 60 60 60 60\nwhole 60 IN CNAME zone.test.\ncut 60 IN CNAME cut-zone.test.\n',
  );
  const lines = [
    'bind 127.0.0.1',
    'cache 30',
    `kubernetes cluster.local {\n  endpoint ${api}\n }`,
    'k8s_external ext.example',
    `file ${zone} zone.example`,
    `forward . ${upstream}`,
  ];
  const conf = await folder.write('Corefile', `.:${port} {\n ${lines.join('\n ')}\n}\n`);
  const program = runPortolan(['coredns', '-conf', conf, ...flags]);
  await waitUntil('the banner', () => program.output.includes('linux/'));
  return { address: '127.0.0.1', port };
}

/** Whether the answer has TC, and its records. */
async function askOutcome(server: DnsServer, name: string, transport: 'udp' | 'tcp'): Promise<string> {
  const { header, answers } = await ask(server, name, 'A', { transport });
  return `${header.truncated ? 'TC ' : ''}${answers.map(({ data }) => data.kind).join(' ')}`;
}

const CLUSTER = 'default.svc.cluster.local';
const WHOLE = [`whole.${CLUSTER}`, 'balanced.default.ext.example', 'whole.zone.example'];
const CUT = [`cut.${CLUSTER}`, 'cut-balanced.default.ext.example', 'cut.zone.example'];

it('coredns fetches the whole answer, or sends TC', async () => {
  const server = await startCorefile();
  for (const name of WHOLE) {
    expect([name, await askOutcome(server, name, 'udp')]).toEqual([name, 'CNAME A A']);
    expect([name, await askOutcome(server, name, 'tcp')]).toEqual([name, 'CNAME A A']);
  }
  for (const name of CUT)
    for (let turn = 0; turn < 2; turn += 1)
      expect([name, await askOutcome(server, name, 'udp')]).toEqual([name, 'TC CNAME A']);
});

it.each(['-compat=1.14', '-compat=own-query,truncated-target'])(
  'coredns %s sends TC, and keeps nothing of it, but for zone files, as CoreDNS',
  async (flag) => {
    const server = await startCorefile(flag);
    for (const name of WHOLE.slice(0, 2)) {
      for (let turn = 0; turn < 2; turn += 1)
        expect([name, await askOutcome(server, name, 'udp')]).toEqual([name, 'TC CNAME A']);
      expect([name, await askOutcome(server, name, 'tcp')]).toEqual([name, 'CNAME A A']);
    }
    expect(await askOutcome(server, WHOLE[2] ?? '', 'udp')).toBe('CNAME A');
  },
);

itWithTool(['etcd'], 'coredns sends TC for a host name in etcd', async () => {
  const upstream = await LoopbackUpstream.start(answerInParts);
  onTestFinished(() => upstream.stop());
  onTestFinished(endAllPrograms);
  const etcd = await startEtcd();
  const folder = await makeTemporaryFolder();
  const port = await findFreePort();
  await etcd.control('put', '/skydns/example/etcd/cut', JSON.stringify({ host: 'cut.test' }));
  const lines = ['bind 127.0.0.1', 'cache 30', `etcd etcd.example {\n  endpoint ${etcd.first.url}\n }`];
  const block = [...lines, `forward . 127.0.0.1:${upstream.port}`].join('\n ');
  const program = runPortolan([
    'coredns',
    '-conf',
    await folder.write('Corefile', `.:${port} {\n ${block}\n}\n`),
  ]);
  await waitUntil('the banner', () => program.output.includes('linux/'));
  const server = { address: '127.0.0.1', port };
  for (let turn = 0; turn < 2; turn += 1)
    expect(await askOutcome(server, 'cut.etcd.example', 'udp')).toBe('TC CNAME A');
});

it('serve fetches the whole answer, or sends TC', async () => {
  const { api, upstream } = await startCluster();
  const server = await servePortolan(['--kube-master-url', api, '--upstream', upstream]);
  await server.program.heard('cluster listed');
  for (const transport of ['udp', 'tcp'] as const)
    expect(await askOutcome(server, `whole.${CLUSTER}`, transport)).toBe('CNAME A A');
  for (let turn = 0; turn < 2; turn += 1)
    expect(await askOutcome(server, `cut.${CLUSTER}`, 'udp')).toBe('TC CNAME A');
});
