/**
 * EndpointSlices of `addressType: FQDN` in each role that follows a cluster: aliases, as CoreDNS 1.14 answers them.
 */
import { presentRecord } from '@portolan/dns/present.ts';
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { namespace, service, slice } from '../list-watch/harness.ts';
import { endAllPrograms } from '../support/portolan.ts';
import { CLUSTER_ROLES, startClusterRole } from '../support/roles.ts';

afterEach(endAllPrograms);

const fqdnSlice = (of: string, endpoints: readonly object[]): KubernetesObject => ({
  kind: 'EndpointSlice',
  metadata: {
    name: `${of}-names`,
    namespace: 'default',
    labels: { 'kubernetes.io/service-name': of },
  },
  addressType: 'FQDN',
  endpoints,
  ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
});

const DB = { addresses: ['db.example.test'] };
const OBJECTS: readonly KubernetesObject[] = [
  namespace('default'),
  service('db', 'None'),
  fqdnSlice('db', [{ ...DB, hostname: 'prim' }]),
  service('bare', 'None'),
  fqdnSlice('bare', [DB, { addresses: ['b.test'], conditions: { ready: false } }]),
  service('web', '10.96.0.10'),
  fqdnSlice('web', [{ ...DB, hostname: 'prim' }]),
  service('mixed', 'None'),
  fqdnSlice('mixed', [DB]),
  slice('mixed-1', 'mixed', '10.244.0.9'),
  service('inner', 'None'),
  fqdnSlice('inner', [{ addresses: ['web.default.svc.cluster.local'] }]),
];

async function startUpstream(): Promise<LoopbackUpstream> {
  const address = { class: CLASS.IN, ttl: 60, data: { kind: 'A', address: '192.0.2.1' } } as const;
  const upstream = await LoopbackUpstream.start(({ query, send }) => {
    const [question] = query.questions;
    const isKnown = question?.type === TYPE.A && question.name.toLowerCase() === 'db.example.test.';
    const answers = isKnown ? [{ name: question.name, ...address }] : [];
    send(reply(query, { answers }));
  });
  onTestFinished(() => upstream.stop());
  return upstream;
}

async function answer(server: DnsServer, name: string, type: 'A' | 'AAAA' | 'CNAME'): Promise<string> {
  const { header, answers } = await ask(server, `${name}.default.svc.cluster.local`, type);
  const records = answers.map((record) => presentRecord(record).split(' ').slice(3).join(' '));
  return [String(header.rcode), ...records].join(', ');
}

const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 30_000, interval: 50 });

it.each(CLUSTER_ROLES.filter((role) => role !== 'node-cache'))(
  '%s answers with the alias, and what it leads to',
  async (role) => {
    const double = await ApiServerDouble.start({ objects: OBJECTS });
    onTestFinished(() => double.stop());
    const { port: upstream } = await startUpstream();
    const server = await startClusterRole(role, { upstream, api: double.url });
    await until(async () => expect(await answer(server, 'web', 'A')).toBe('0, A 10.96.0.10'));
    const alias = 'CNAME db.example.test.';
    // Services come before slices.
    await until(async () => expect(await answer(server, 'db', 'A')).toBe(`0, ${alias}, A 192.0.2.1`));
    expect(await answer(server, 'prim.db', 'A')).toBe(`0, ${alias}, A 192.0.2.1`);
    expect(await answer(server, '_http._tcp.db', 'A')).toBe(`0, ${alias}, A 192.0.2.1`);
    expect(await answer(server, 'bare', 'A')).toBe(`0, ${alias}, A 192.0.2.1`);
    expect(await answer(server, 'mixed', 'A')).toBe('0, A 10.244.0.9');
    expect(await answer(server, 'inner', 'A')).toBe('0, CNAME web.default.svc.cluster.local., A 10.96.0.10');
    if (role === 'coredns') {
      // The dialect of kube-dns names no endpoints of services with an address, and makes other labels for those without a hostname.
      expect(await answer(server, 'prim.web', 'A')).toBe(`0, ${alias}, A 192.0.2.1`);
      expect(await answer(server, 'db-example-test.bare', 'A')).toBe(`0, ${alias}, A 192.0.2.1`);
      expect(await answer(server, 'db', 'CNAME')).toBe(`0, ${alias}`);
    }
    double.delete('EndpointSlice', 'db-names', 'default');
    await until(async () => expect(await answer(server, 'prim.db', 'A')).toBe('3'));
  },
  60_000,
);
