/**
 * For server blocks of a Corefile, readers answer and count as the chains do.
 */
import { compilePlan } from '@portolan/frontends/coredns/settings/testing/compile-plan.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask, askShort } from '@portolan/testing/client/ask.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { namespace, service, slice } from '../list-watch/harness.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import {
  EDNS_OPTIONS,
  makePacket,
  ReaderSubject,
  SERVER,
  toComparableMessage,
  withOpt,
  withoutTtls,
} from './reader-subject.ts';

afterEach(endAllPrograms);

/** As kubeadm writes it, but for what needs files and upstream servers. */
const kubeadm = (url: string, more = '') => `.:53 {
  errors
  health
  ready
  ${more}
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    endpoint ${url}
    pods insecure
    fallthrough in-addr.arpa ip6.arpa
    ttl 30
  }
  prometheus :9153
  cache 30
  loop
  reload
  loadbalance
}
`;

const NAMES = [
  'web.default.svc.cluster.local',
  'WEB.default.svc.cluster.local',
  'db.default.svc.cluster.local',
  '_http._tcp.web.default.svc.cluster.local',
  '1-2-3-4.default.pod.cluster.local',
  'missing.default.svc.cluster.local',
  'default.svc.cluster.local',
  'cluster.local',
  'dns-version.cluster.local',
  '*.default.svc.cluster.local',
  '10.0.96.10.in-addr.arpa',
  '9.9.9.9.in-addr.arpa',
];
const TYPES = ['A', 'AAAA', 'SRV', 'PTR', 'TXT', 'SOA', 'NS', 'ANY', 'DS'];

async function startApiServer(): Promise<string> {
  const objects = [
    namespace('default'),
    service('web', '10.96.0.10'),
    service('db', 'None'),
    slice('db-1', 'db', '10.244.0.9'),
  ];
  const double = await ApiServerDouble.start({ objects });
  onTestFinished(() => double.stop());
  return double.url;
}

describe('the Corefile of kubeadm', () => {
  it('has its names of the cluster answered by readers as its chain answers them', async () => {
    const subject = new ReaderSubject(kubeadm(await startApiServer()));
    await subject.engine.start();
    const dnssecOk = 0x8000;
    const several = [withOpt(1400, [], dnssecOk), withOpt(1232, EDNS_OPTIONS)];
    let answered = 0;
    for (const name of NAMES)
      for (const type of TYPES)
        for (const changes of [{}, ...several]) {
          const packet = makePacket(name, type, changes);
          const fromTable = subject.askTable(packet);
          if (fromTable === undefined) continue;
          answered += 1;
          const fromChain = await subject.askChain(packet);
          expect(withoutTtls(toComparableMessage(fromTable)), `${name} ${type}`).toEqual(
            fromChain && withoutTtls(toComparableMessage(fromChain)),
          );
        }
    expect(answered).toBeGreaterThan(60);
    expect(subject.askTable(makePacket('www.example.com', 'A'))).toBeUndefined();
    for (const odd of [{ flags: 0x2000 }, { questions: [] }])
      expect(subject.askTable(makePacket('web.default.svc.cluster.local', 'A', odd))).toBeUndefined();
    for (const option of EDNS_OPTIONS)
      expect(
        subject.askTable(makePacket('web.default.svc.cluster.local', 'A', withOpt(512, [option]))),
      ).toBeDefined();
    // More options than the client has room for.
    const padding = { code: 12, data: Buffer.alloc(480) } as const;
    expect(
      subject.askTable(makePacket('web.default.svc.cluster.local', 'A', withOpt(512, [padding]))),
    ).toBeUndefined();
  });

  it('has answers of readers in its metrics', async () => {
    const subject = new ReaderSubject(kubeadm(await startApiServer()));
    await subject.engine.start();
    const count = async () => {
      const text = await subject.engine.metrics.render();
      const labels = `server="${SERVER}",zone=".",view=""`;
      const of = (line: string) =>
        Number(
          text
            .split('\n')
            .find((each) => each.startsWith(line))
            ?.split(' ')[1] ?? 0,
        );
      return [
        of(`coredns_dns_requests_total{${labels},proto="udp",family="1",type="A"}`),
        of(`coredns_dns_responses_total{${labels},rcode="NOERROR",plugin="kubernetes"}`),
        of(`coredns_dns_request_duration_seconds_count{${labels}}`),
        of(`coredns_dns_response_size_bytes_count{${labels},proto="udp"}`),
      ];
    };
    const packet = makePacket('web.default.svc.cluster.local', 'A');
    await subject.askChain(packet);
    expect(await count()).toEqual([1, 1, 1, 1]);
    for (let turn = 0; turn < 5; turn++) subject.askTable(packet);
    expect(await count()).toEqual([6, 6, 6, 6]);
    expect(await count()).toEqual([6, 6, 6, 6]);
  });

  it.each([
    ['a cache with other TTLs', 'cache 10'],
    ['a template before', 'template ANY ANY {\n rcode REFUSED\n}'],
  ])('leaves all to the chain with %s', async (_, more) => {
    const url = await startApiServer();
    const corefile = kubeadm(url, more);
    const subject = new ReaderSubject(
      more.startsWith('cache') ? corefile.replace('  cache 30\n', '') : corefile,
    );
    await subject.engine.start();
    for (const name of NAMES) expect(subject.askTable(makePacket(name, 'A')), name).toBeUndefined();
  });

  it('is replaced by another one with one store', async () => {
    const url = await startApiServer();
    const subject = new ReaderSubject(kubeadm(url));
    await subject.engine.start();
    const packet = makePacket('web.default.svc.cluster.local', 'A');
    expect(subject.askTable(packet)?.answers).toHaveLength(1);
    const other = kubeadm(
      url,
      'template ANY ANY cluster.local {\n fallthrough\n match ^web[.]\n rcode NOERROR\n}',
    );
    const changed = await subject.engine.makeBlocks(compilePlan(other));
    expect(subject.askTable(packet)?.answers).toHaveLength(1);
    if (changed === undefined) throw new Error('no other change came');
    await subject.engine.replaceBlocks(changed).stop();
    expect(subject.askTable(packet)).toBeUndefined();
    expect((await subject.askChain(packet))?.answers).toHaveLength(0);
  });
});

it('is answered by a reader thread, and counted, in a process of its own', async () => {
  const port = await findFreePort();
  const other = await findFreePort();
  const metrics = await findFreePort();
  const corefile = kubeadm(await startApiServer())
    .replace('.:53 {', `.:${port} {\n  bind 127.0.0.1`)
    .replace('health\n  ready\n', '')
    .replace(':9153', `127.0.0.1:${metrics}`)
    .concat(
      `.:${other} {\n bind 127.0.0.1\n log\n prometheus 127.0.0.1:${metrics}\n hosts {\n 192.0.2.7 own.test\n fallthrough\n }\n}\n`,
    );
  const folder = await makeTemporaryFolder();
  const conf = await folder.write('Corefile', corefile);
  const program = runPortolan(['coredns', '-conf', conf]);
  await waitUntil('the banner', () => program.output.includes('linux/'));
  const server = { address: '127.0.0.1', port };
  for (const transport of ['udp', 'tcp'] as const) {
    const { answers } = await ask(server, 'web.default.svc.cluster.local.', 'A', { transport });
    expect(answers.map(({ data }) => data)).toEqual([{ kind: 'A', address: '10.96.0.10' }]);
  }
  // This one is for the handlers, by way of the reader.
  expect(await askShort(server, '10.0.96.10.in-addr.arpa', 'PTR')).toBe('web.default.svc.cluster.local.');
  const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  const labels = `server="dns://127.0.0.1:${port}",zone=".",view=""`;
  for (const proto of ['udp', 'tcp'])
    expect(text).toContain(`coredns_dns_requests_total{${labels},proto="${proto}",family="1",type="A"} 1`);
  expect(text).toContain(`coredns_dns_requests_total{${labels},proto="udp",family="1",type="PTR"} 1`);
  // The port of another group has a reader too.
  for (const transport of ['udp', 'tcp'] as const)
    await ask({ address: '127.0.0.1', port: other }, 'own.test.', 'A', { transport });
  const later = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  const second = `server="dns://127.0.0.1:${other}",zone=".",view=""`;
  expect(later).toContain(`coredns_dns_requests_total{${second},proto="udp",family="1",type="A"} 1`);
  expect(later).toContain(`coredns_dns_request_size_bytes_sum{${second},proto="udp"} 26`);
  // What a reader answers is logged as what plugins answer, which is what comes by TCP.
  const logged = (proto: string) =>
    new RegExp(`^\\[INFO\\] 127[^"]*(".* ${proto} .*$)`, 'm').exec(program.output)?.[1];
  await waitUntil('both lines', () => logged('udp') !== undefined && logged('tcp') !== undefined);
  const comparable = (line = '') => line.replace(/ (udp|tcp) (\d+) false \d+"/, ' $2').replace(/\S+s$/, '');
  expect(comparable(logged('udp'))).toBe('"A IN own.test. 26 NOERROR qr,aa,rd 50 ');
  expect(comparable(logged('udp'))).toBe(comparable(logged('tcp')));
  program.signal('SIGTERM');
  expect(await program.exit).toEqual({ code: 0, signal: null });
});
