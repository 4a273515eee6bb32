/**
 * `k8s_gateway`, a plugin outside the program, in `portolan coredns`: its names follow the API server.
 */
import { presentRecord } from '@portolan/dns/present.ts';
import { RCODE } from '@portolan/dns/types.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { ApiServerDouble, type ApiServerOptions } from '../api-server/api-server.ts';
import { servedByDefault } from '../api-server/catalog.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const GATEWAY_API = 'gateway.networking.k8s.io/v1';

const service = (name: string, ip: string): KubernetesObject => ({
  kind: 'Service',
  metadata: { name, namespace: 'default' },
  spec: { type: 'LoadBalancer' },
  status: { loadBalancer: { ingress: [{ ip }] } },
});
const ingress = (name: string, host: string, ip: string): KubernetesObject => ({
  kind: 'Ingress',
  metadata: { name, namespace: 'default' },
  spec: { rules: [{ host }] },
  status: { loadBalancer: { ingress: [{ ip }] } },
});
const gateway = (name: string, value: string): KubernetesObject => ({
  kind: 'Gateway',
  metadata: { name, namespace: 'infra' },
  spec: { gatewayClassName: 'x' },
  status: { addresses: [{ type: 'IPAddress', value }] },
});
const route = (name: string, hostname: string, parent: string): KubernetesObject => ({
  kind: 'HTTPRoute',
  metadata: { name, namespace: 'default' },
  spec: { hostnames: [hostname], parentRefs: [{ name: parent, namespace: 'infra' }] },
});

async function startApi(options: ApiServerOptions) {
  const double = await ApiServerDouble.start(options);
  onTestFinished(() => double.stop());
  return double;
}

/** @param properties lines of `k8s_gateway` */
async function startGateway(double: ApiServerDouble, properties: string) {
  const folder = await makeTemporaryFolder();
  const port = await findFreePort();
  const kubeconfig = await folder.write(
    'kubeconfig',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c' } }],
      clusters: [{ name: 'c', cluster: { server: double.url } }],
    }),
  );
  const conf = await folder.write(
    'Corefile',
    `.:${port} {\n bind 127.0.0.1\n k8s_gateway example.org {\n kubeconfig ${kubeconfig}\n ${properties}\n }\n template IN A other.example.org {\n answer "{{ .Name }} 9 IN A 198.51.100.1"\n }\n}\n`,
  );
  const program = runPortolan(['coredns', '-conf', conf, '-plugin=k8s_gateway=@portolan/k8s-gateway']);
  await waitUntil('the banner', () => program.output.includes('linux/') || program.ended !== undefined);
  return { server: { address: '127.0.0.1', port }, program };
}

async function answersTo(
  server: DnsServer,
  name: string,
  type: 'A' | 'NS' | 'SOA',
): Promise<readonly string[]> {
  const { header, answers } = await ask(server, name, type);
  return header.rcode === RCODE.NOERROR ? answers.map(presentRecord) : [`rcode ${header.rcode}`];
}

/** Asks until the answer is this one. */
async function follows(server: DnsServer, name: string, answer: string): Promise<void> {
  await vi.waitFor(async () => expect(await answersTo(server, name, 'A')).toEqual([answer]), 30_000);
}

it('answers for Services, Ingresses and routes, and follows their changes', async () => {
  const double = await startApi({
    objects: [
      service('web', '192.0.2.1'),
      ingress('shop', 'shop.example.org', '192.0.2.2'),
      gateway('edge', '192.0.2.3'),
      route('api', '*.api.example.org', 'edge'),
    ],
    serves: [
      ...servedByDefault,
      'networking.k8s.io/v1/ingresses',
      `${GATEWAY_API}/gateways`,
      `${GATEWAY_API}/httproutes`,
    ],
    // Kinds without a schema here must be asked for in JSON.
    protobuf: true,
  });
  const { server } = await startGateway(double, 'resources HTTPRoute Ingress Service');
  expect(await answersTo(server, 'web.default.example.org', 'A')).toEqual([
    'web.default.example.org. 60 IN A 192.0.2.1',
  ]);
  // A reader repeats it.
  for (let turn = 0; turn < 3; turn += 1)
    expect(await answersTo(server, 'shop.example.org', 'A')).toEqual(['shop.example.org. 60 IN A 192.0.2.2']);
  expect(await answersTo(server, 'v1.api.example.org', 'A')).toEqual([
    'v1.api.example.org. 60 IN A 192.0.2.3',
  ]);
  expect(await answersTo(server, 'none.example.org', 'A')).toEqual(['rcode 3']);
  expect(await answersTo(server, 'example.org', 'NS')).toEqual([
    'example.org. 60 IN NS dns1.kube-system.example.org.',
  ]);
  double.put(ingress('shop', 'shop.example.org', '192.0.2.20'));
  await follows(server, 'shop.example.org', 'shop.example.org. 60 IN A 192.0.2.20');
  double.delete('Ingress', 'shop', 'default');
  await follows(server, 'shop.example.org', 'rcode 3');
});

it('starts without the custom resources, and answers for them once they are there', async () => {
  const double = await startApi({ objects: [service('web', '192.0.2.1')] });
  const { server, program } = await startGateway(
    double,
    'resources HTTPRoute Service\n fallthrough other.example.org',
  );
  expect(await answersTo(server, 'web.default.example.org', 'A')).toHaveLength(1);
  expect(await answersTo(server, 'a.other.example.org', 'A')).toEqual([
    'a.other.example.org. 9 IN A 198.51.100.1',
  ]);
  expect(program.output).toContain('plugin/k8s_gateway: the API server does not have it');
  double.serves = [...servedByDefault, `${GATEWAY_API}/gateways`, `${GATEWAY_API}/httproutes`];
  double.put(gateway('edge', '192.0.2.3'));
  double.put(route('api', 'api.example.org', 'edge'));
  await follows(server, 'api.example.org', 'api.example.org. 60 IN A 192.0.2.3');
});

it('does not start without a cluster', async () => {
  const folder = await makeTemporaryFolder();
  const conf = await folder.write('Corefile', `.:${await findFreePort()} {\n k8s_gateway example.org\n}\n`);
  const program = runPortolan(['coredns', '-conf', conf, '-plugin=k8s_gateway=@portolan/k8s-gateway']);
  expect((await program.exit).code).toBe(1);
  expect(program.errors + program.output).toContain('no API server: ');
});
