/**
 * A DNS client's view of a cluster while objects are created, changed and deleted: the whole program against the API server
 * double, by lists and by watch-lists, and against a real cluster if `PORTOLAN_TEST_KUBECONFIG` names one.
 */
import { reverseName } from '@portolan/dns/address.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { look, type Serving } from '../support/portolan.ts';
import { describeAnswer, Resolver } from './resolver.ts';
import { serveCluster } from './serve-cluster.ts';
import { CLUSTERS, type TestCluster } from './test-cluster.ts';

const SOA = 'cluster.local.';
const HTTP = { name: 'http', port: 80 };
const DNS = { name: 'dns', port: 53, protocol: 'UDP' } as const;

describe.each(CLUSTERS)('in $title', ({ open }) => {
  let cluster: TestCluster;
  let coredns: Resolver;
  let kubeDns: Resolver;
  let programs: readonly Serving[];
  let namespace: string;
  const toServiceName = (service: string) => `${service}.${namespace}.svc.cluster.local.`;

  beforeAll(async () => {
    cluster = await open();
    programs = await Promise.all([
      serveCluster(cluster.kubeconfig),
      serveCluster(cluster.kubeDnsKubeconfig, '--dialect', 'kube-dns'),
      serveCluster(cluster.kubeconfig, '--pods', 'verified'),
      serveCluster(cluster.kubeconfig, '--pods', 'disabled'),
    ]);
    [coredns, kubeDns] = [makeResolver(0), makeResolver(1)];
  }, 60_000);

  beforeEach(async () => {
    namespace = await cluster.addNamespace();
  });

  function makeResolver(index: number): Resolver {
    const serving = programs[index];
    if (serving === undefined) throw new Error(`no program: ${index}`);
    return new Resolver(serving);
  }

  it.each(['ClusterIP', 'NodePort', 'LoadBalancer'])(
    'a service of type %s has its address and ports',
    async (type) => {
      await coredns.expect(toServiceName('web'), 'A', `NXDOMAIN ${SOA}`);
      // Not all clusters let a load balancer have ports of both protocols.
      const second = type === 'LoadBalancer' ? { ...DNS, protocol: 'TCP' as const } : DNS;
      const [address = ''] = await cluster.addService(namespace, 'web', { type, ports: [HTTP, second] });
      const web = toServiceName('web');
      const additional = `${web} A ${address}`;
      await coredns.expect(web, 'A', `A ${address}`);
      await coredns.expect(`_http._tcp.${web}`, 'SRV', `SRV 0 100 80 ${web} + ${additional}`);
      await coredns.expect(
        `_dns._${second.protocol.toLowerCase()}.${web}`,
        'SRV',
        `SRV 0 100 53 ${web} + ${additional}`,
      );
      await coredns.expect(`_http._udp.${web}`, 'SRV', `NXDOMAIN ${SOA}`);
      await coredns.expect(web, 'TXT', `NODATA ${SOA}`);
      await coredns.expect(`x.${web}`, 'A', `NXDOMAIN ${SOA}`);
      await coredns.expect(reverseName(address), 'PTR', `PTR ${web}`);
      await kubeDns.expect(web, 'A', `A ${address}`);
      await kubeDns.expect(`_http._tcp.${web}`, 'A', `CNAME ${web}, ${additional}`);
      await kubeDns.expect(reverseName(address), 'PTR', `PTR ${web}`);
    },
  );

  it('names are answered whatever their capitals, as they were asked', async () => {
    const [address = ''] = await cluster.addService(namespace, 'web', { ports: [HTTP] });
    const asked = `wEb.${namespace}.SVC.cluster.LOCAL.`;
    for (const resolver of [coredns, kubeDns]) {
      await resolver.expect(asked, 'A', `A ${address}`);
      const { questions, answers } = await resolver.answer(asked, 'A');
      expect([questions[0]?.name, answers[0]?.name]).toEqual([asked, asked]);
    }
  });

  it('a service of two families has both addresses, where the cluster has two', async () => {
    const dual = { ipFamilyPolicy: 'PreferDualStack', ports: [HTTP] };
    const addresses = await cluster.addService(namespace, 'web', dual);
    const records = (family: 'A' | 'AAAA') => {
      const own = addresses.filter((address) => address.includes(':') === (family === 'AAAA'));
      return own.length === 0 ? `NODATA ${SOA}` : own.map((address) => `${family} ${address}`).join(', ');
    };
    for (const resolver of [coredns, kubeDns]) {
      await resolver.expect(toServiceName('web'), 'A', records('A'));
      await resolver.expect(toServiceName('web'), 'AAAA', records('AAAA'));
      for (const address of addresses)
        await resolver.expect(reverseName(address), 'PTR', `PTR ${toServiceName('web')}`);
    }
  });

  it('a headless service has the addresses of its ready endpoints, as they come and go', async () => {
    const db = toServiceName('db');
    const ports = [{ name: 'sql', port: 5432 }];
    await cluster.addService(namespace, 'db', { clusterIP: 'None', ports });
    await cluster.addEndpoints(
      namespace,
      'db',
      [
        { address: '10.244.7.1', hostname: 'db-0' },
        { address: '10.244.7.2', hostname: 'db-1' },
        { address: '10.244.7.3', hostname: 'db-2', ready: false },
        { address: 'fd00:10:244::7', hostname: 'db-0' },
      ],
      ports,
    );
    await coredns.expect(db, 'A', 'A 10.244.7.1, A 10.244.7.2');
    await coredns.expect(db, 'AAAA', 'AAAA fd00:10:244::7');
    await coredns.expect(`db-1.${db}`, 'A', 'A 10.244.7.2');
    await coredns.expect(`db-1.${db}`, 'AAAA', `NODATA ${SOA}`);
    await coredns.expect(`db-2.${db}`, 'A', `NXDOMAIN ${SOA}`);
    await coredns.expect(reverseName('10.244.7.2'), 'PTR', `PTR db-1.${db}`);
    await kubeDns.expect(db, 'A', 'A 10.244.7.1, A 10.244.7.2');
    await kubeDns.expect(`db-1.${db}`, 'A', 'A 10.244.7.2');

    await cluster.changeEndpoints(
      namespace,
      'db',
      [
        { address: '10.244.7.2', hostname: 'db-1' },
        { address: '10.244.7.3', hostname: 'db-2' },
      ],
      ports,
    );
    const srv = `SRV 0 50 5432 db-1.${db}, SRV 0 50 5432 db-2.${db}`;
    const additionals = `db-1.${db} A 10.244.7.2, db-2.${db} A 10.244.7.3`;
    await coredns.expect(`_sql._tcp.${db}`, 'SRV', `${srv} + ${additionals}`);
    await coredns.expect(db, 'AAAA', `NODATA ${SOA}`);
    await coredns.expect(`db-0.${db}`, 'A', `NXDOMAIN ${SOA}`);
    await kubeDns.expect(`_sql._tcp.${db}`, 'SRV', `${srv.replaceAll('SRV 0', 'SRV 10')} + ${additionals}`);
    await kubeDns.expect(`db-0.${db}`, 'A', `NXDOMAIN ${SOA}`);

    await cluster.removeService(namespace, 'db');
    for (const resolver of [coredns, kubeDns]) {
      await resolver.expect(db, 'A', `NXDOMAIN ${SOA}`);
      await resolver.expect(`db-1.${db}`, 'A', `NXDOMAIN ${SOA}`);
    }
  });

  it('an endpoint without a hostname is named by its address, or by a hash of it', async () => {
    await cluster.addService(namespace, 'work', { clusterIP: 'None', ports: [HTTP] });
    await cluster.addEndpoints(namespace, 'work', [{ address: '10.244.1.30' }], [HTTP]);
    await coredns.expect(`10-244-1-30.${toServiceName('work')}`, 'A', 'A 10.244.1.30');
    await kubeDns.expect(`3334633466336332.${toServiceName('work')}`, 'A', 'A 10.244.1.30');
    await kubeDns.expect(`10-244-1-30.${toServiceName('work')}`, 'A', `NXDOMAIN ${SOA}`);
  });

  it('an ExternalName is an alias, which is followed inside the cluster', async () => {
    const [address = ''] = await cluster.addService(namespace, 'web', { ports: [HTTP] });
    const alias = { type: 'ExternalName', externalName: toServiceName('web').slice(0, -1) };
    await cluster.addService(namespace, 'alias', alias);
    for (const resolver of [coredns, kubeDns]) {
      await resolver.expect(
        toServiceName('alias'),
        'A',
        `CNAME ${toServiceName('web')}, ${toServiceName('web')} A ${address}`,
      );
      await resolver.expect(toServiceName('alias'), 'CNAME', `CNAME ${toServiceName('web')}`);
    }
    await cluster.changeService(namespace, 'alias', { externalName: 'www.example.com' });
    await coredns.expect(toServiceName('alias'), 'A', 'CNAME www.example.com.');
    await kubeDns.expect(toServiceName('alias'), 'CNAME', 'CNAME www.example.com.');
  });

  it('pods are named by their addresses: always, if there is such a pod, or never', async () => {
    await cluster.addPod(namespace, 'one', '10.244.9.8');
    const pod = (address: string) => `${address}.${namespace}.pod.cluster.local.`;
    const [insecure, , verified, disabled] = programs.map((_, index) => makeResolver(index));
    await verified?.expect(pod('10-244-9-8'), 'A', 'A 10.244.9.8');
    await verified?.expect(pod('10-244-9-9'), 'A', `NXDOMAIN ${SOA}`);
    for (const resolver of [insecure, kubeDns]) {
      await resolver?.expect(pod('10-244-9-9'), 'A', 'A 10.244.9.9');
      await resolver?.expect(pod('10-244-9-9'), 'AAAA', `NODATA ${SOA}`);
    }
    await insecure?.expect(pod('fd00-10--1'), 'AAAA', 'AAAA fd00:10::1');
    await insecure?.expect(pod('10-244-9'), 'A', `NXDOMAIN ${SOA}`);
    await disabled?.expect(pod('10-244-9-8'), 'A', `NXDOMAIN ${SOA}`);
  });

  it('names above others exist without data, absent ones do not', async () => {
    const [address = ''] = await cluster.addService(namespace, 'web', { ports: [HTTP] });
    for (const resolver of [coredns, kubeDns]) {
      await resolver.expect(toServiceName('web'), 'A', `A ${address}`);
      for (const name of ['cluster.local.', 'svc.cluster.local.', `${namespace}.svc.cluster.local.`])
        await resolver.expect(name, 'A', `NODATA ${SOA}`);
      await resolver.expect(`_tcp.${toServiceName('web')}`, 'A', `NODATA ${SOA}`);
      await resolver.expect(`web.no-such-namespace.svc.cluster.local.`, 'A', `NXDOMAIN ${SOA}`);
      await resolver.expect(`www.example.com.${namespace}.svc.cluster.local.`, 'AAAA', `NXDOMAIN ${SOA}`);
      await resolver.expect('no-such-zone.cluster.local.', 'A', `NXDOMAIN ${SOA}`);
    }
  });

  it('a service that is recreated has its new address, and no service has the old one', async () => {
    const [before = ''] = await cluster.addService(namespace, 'web', { ports: [HTTP] });
    await coredns.expect(reverseName(before), 'PTR', `PTR ${toServiceName('web')}`);
    await cluster.removeService(namespace, 'web');
    await coredns.expect(toServiceName('web'), 'A', `NXDOMAIN ${SOA}`);
    await coredns.expect(reverseName(before), 'PTR', 'NXDOMAIN in-addr.arpa.');
    await kubeDns.expect(reverseName(before), 'PTR', 'REFUSED');
    await cluster.addService(namespace, 'web', { clusterIP: 'None', ports: [HTTP] });
    await cluster.addEndpoints(namespace, 'web', [{ address: '10.244.6.1' }], [HTTP]);
    for (const resolver of [coredns, kubeDns])
      await resolver.expect(toServiceName('web'), 'A', 'A 10.244.6.1');
  });

  it('a namespace takes its names with it', async () => {
    await cluster.addService(namespace, 'web', { ports: [HTTP] });
    await coredns.expect(`${namespace}.svc.cluster.local.`, 'A', `NODATA ${SOA}`);
    await cluster.removeNamespace(namespace);
    for (const resolver of [coredns, kubeDns]) {
      await resolver.expect(toServiceName('web'), 'A', `NXDOMAIN ${SOA}`);
      await resolver.expect(`${namespace}.svc.cluster.local.`, 'A', `NXDOMAIN ${SOA}`);
    }
  });

  it('what does not fit into a packet is cut there, and whole over TCP', async () => {
    const count = 100;
    const endpoints = Array.from({ length: count }, (_, index) => ({ address: `10.244.20.${index + 1}` }));
    await cluster.addService(namespace, 'many', { clusterIP: 'None', ports: [HTTP] });
    await cluster.addEndpoints(namespace, 'many', endpoints, [HTTP]);
    const whole = async () => (await coredns.answer(toServiceName('many'), 'A', 'tcp')).answers.length;
    await expect.poll(whole, { timeout: 15_000 }).toBe(count);
    const byUdp = await coredns.answer(toServiceName('many'), 'A');
    expect(byUdp.header.truncated).toBe(true);
    expect(byUdp.answers.length).toBeGreaterThan(0);
    expect(byUdp.answers.length).toBeLessThan(count);
  });

  it('the two dialects differ where they are known to', async () => {
    await coredns.expect('dns-version.cluster.local.', 'TXT', 'TXT "1.1.0"');
    const [address = ''] = await cluster.addService(namespace, 'web', { ports: [HTTP] });
    for (const resolver of [coredns, kubeDns])
      await resolver.expect(toServiceName('web'), 'A', `A ${address}`);
    await coredns.expect(toServiceName('web'), 'ANY', 'HINFO "RFC8482" ""');
    await kubeDns.expect(toServiceName('web'), 'ANY', 'REFUSED');
    for (const resolver of [coredns, kubeDns]) await resolver.expect('www.example.com.', 'A', 'REFUSED');
  });

  it('the cluster is known to be current, and no defect was met', async () => {
    for (const serving of programs) {
      expect(await look(serving, '/readyz')).toEqual({ status: 200, text: 'ok\n' });
      const { text } = await look(serving, '/metrics');
      expect(text).toMatch(/^portolan_internal_errors_total 0$/m);
      expect(text).toMatch(/^portolan_reader_restarts_total 0$/m);
      expect(text).toMatch(/^portolan_ready 1$/m);
      expect(serving.program.log.filter(({ level }) => level === 'error')).toEqual([]);
    }
  });

  it('the rights of the ClusterRole system:kube-dns are sufficient: without EndpointSlices, Endpoints are followed', async () => {
    const { requests } = (await cluster.double?.state()) ?? { requests: {} };
    const refused = Object.keys(requests).filter((request) => !request.endsWith('allowed'));
    expect(refused.filter((request) => !/^(list|watch) endpointslices 403$/.test(request))).toEqual([]);
  });

  it('an answer says what it is: authoritative, no recursion, EDNS only if asked', async () => {
    const [serving] = programs;
    if (serving === undefined) throw new Error('no program');
    const answer = await ask(serving, 'svc.cluster.local.', 'A');
    expect(describeAnswer(answer)).toBe(`NODATA ${SOA}`);
    expect(answer.header).toMatchObject({ authoritative: true, recursionDesired: true });
    expect(answer.edns).toBeUndefined();
  });
});
