/**
 * Tenants apart, in each role with a cluster: each client sees its own services and shared ones, whoever asked before, and by whatever
 * transport; a name of others is answered as one that does not exist.
 */

import { execFile } from 'node:child_process';
import { connect } from 'node:http2';
import { connect as connectByTls } from 'node:tls';
import { promisify } from 'node:util';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import type { Message, TYPE } from '@portolan/dns/types.ts';
import { encodeDnsPacket } from '@portolan/kernel/base/grpc/dns-packet.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask, askShort, makeQuery } from '@portolan/testing/client/ask.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';
import { call } from '../listen/grpc-client.ts';
import { formatSocketName, runToEnd } from '../support/control.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { CLUSTER_ROLES, type ClusterRole } from '../support/roles.ts';
import { itWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

const run = promisify(execFile);
const HOST = '127.0.0.1';
/** Only a server that hangs takes so long. */
const PATIENCE = { timeout: 20_000 };
const DOMAIN = 'svc.cluster.local.';
const ANNOTATION = { 'portolan-tenants/shared': 'true' };

/** Clients by their addresses: each is a pod, but for the last two. */
const CLIENTS = {
  ofA: '127.0.0.11',
  ofB: '127.0.0.12',
  ofNone: '127.0.0.13',
  inNodeNetwork: '127.0.0.14',
  stranger: '127.0.0.15',
  operator: '127.0.0.16',
} as const;
type ClientName = keyof typeof CLIENTS;
const CLIENT_NAMES = Object.keys(CLIENTS) as readonly ClientName[];

/** Addresses by service, and who sees it. */
const SERVICES: ReadonlyMap<string, { readonly address: string; readonly seenBy: readonly ClientName[] }> =
  new Map([
    ['web.shop', { address: '10.96.1.1', seenBy: ['ofA', 'operator'] }],
    ['web.bank', { address: '10.96.2.1', seenBy: ['ofB', 'operator'] }],
    ['door.bank', { address: '10.96.2.2', seenBy: CLIENT_NAMES }],
    ['web.hall', { address: '10.96.4.1', seenBy: CLIENT_NAMES }],
    ['web.open', { address: '10.96.3.1', seenBy: CLIENT_NAMES }],
  ]);

const space = (name: string, team?: string, annotations = {}): KubernetesObject => ({
  kind: 'Namespace',
  metadata: { name, annotations, ...(team !== undefined && { labels: { team } }) },
});

const pod = (name: string, namespace: string, podIP: string, hostNetwork = false): KubernetesObject => ({
  kind: 'Pod',
  metadata: { name, namespace },
  spec: { hostNetwork },
  status: { phase: 'Running', podIP, podIPs: [{ ip: podIP }] },
});

function service(key: string, clusterIP: string, annotations = {}): KubernetesObject {
  const [name = '', namespace = ''] = key.split('.');
  const ports = [{ name: 'http', port: 80, protocol: 'TCP' }];
  return { kind: 'Service', metadata: { name, namespace, annotations }, spec: { clusterIP, ports } };
}

const OBJECTS: readonly KubernetesObject[] = [
  space('default'),
  space('shop', 'a'),
  space('bank', 'b'),
  space('hall', 'b', ANNOTATION),
  space('open'),
  pod('pod-a', 'shop', CLIENTS.ofA),
  pod('pod-b', 'bank', CLIENTS.ofB),
  pod('pod-n', 'open', CLIENTS.ofNone),
  pod('pod-h', 'bank', CLIENTS.inNodeNetwork, true),
  ...Array.from(SERVICES, ([key, { address }]) =>
    service(key, address, key === 'door.bank' ? ANNOTATION : {}),
  ),
  {
    kind: 'Service',
    metadata: { name: 'alias', namespace: 'shop' },
    spec: { type: 'ExternalName', externalName: `web.bank.${DOMAIN}` },
  },
  { kind: 'Service', metadata: { name: 'db', namespace: 'bank' }, spec: { clusterIP: 'None', ports: [] } },
  {
    kind: 'EndpointSlice',
    metadata: { name: 'db-1', namespace: 'bank', labels: { 'kubernetes.io/service-name': 'db' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.244.2.9'], hostname: 'db-0', conditions: {} }],
    ports: [],
  },
];

interface Tenanted {
  readonly program: Program;
  readonly server: { readonly address: string; readonly port: number };
  readonly api: ApiServerDouble;
}

/** @param protobuf whether it has Protocol Buffers, as API servers do, or only JSON */
async function startApi(protobuf: boolean): Promise<ApiServerDouble> {
  const api = await ApiServerDouble.start({ objects: OBJECTS, protobuf });
  onTestFinished(() => api.stop());
  return api;
}

/** The role itself serves the cluster. */
async function startRole(role: ClusterRole): Promise<Tenanted> {
  const api = await startApi(true);
  const port = await findFreePort();
  const words =
    role === 'serve' || role === 'kube-dns'
      ? [
          ...[role, `--dns-bind-address=${HOST}`, `--dns-port=${port}`, `--healthz-port=${HOST}:0`],
          ...['--log-format=json', '--upstream=none', `--kube-master-url=${api.url}`],
          ...['--tenants=by-namespace-label:team', `--tenants-seen-by=${CLIENTS.operator}`],
        ]
      : await writeCorefileWords(role, `.:${port}`, api.url);
  const program = runPortolan(words);
  const sign = role === 'coredns' || role === 'node-cache' ? /linux\// : /"message":"serving"/;
  await waitUntil(role, () => sign.test(`${program.errors}${program.output}`));
  const server = { address: HOST, port };
  await expect.poll(() => askShort(server, `missing.open.${DOMAIN}`, 'A'), PATIENCE).toBe('NXDOMAIN');
  return { program, server, api };
}

async function writeCorefileWords(role: ClusterRole, listeners: string, api: string, further = '') {
  const folder = await makeTemporaryFolder();
  const text = `${listeners} {
  bind ${HOST}
  ${further}
  portolan {
    tenants by-namespace-label team seen-by ${CLIENTS.operator}
  }
  cache 30
  kubernetes cluster.local in-addr.arpa {
    endpoint ${api}
    pods verified
  }
}
`;
  const conf = await folder.write('Corefile', text);
  const own = ['-localip', HOST, '-setupinterface=false', '-setupiptables=false'];
  return role === 'node-cache'
    ? [role, '-conf', conf, ...own, '-metrics-listen-address', `${HOST}:0`]
    : [role, '-conf', conf];
}

/** Without the name, by which two denials differ. */
function present({ header, answers, authorities, additionals }: Message, name: string): unknown {
  const { id: _, ...flags } = header;
  const texts = [answers, authorities, additionals].map((records) =>
    records.map((record) => presentRecord(record).replaceAll(name, 'NAME')).sort(),
  );
  return [flags, ...texts];
}

const reverse = (address: string) => `${address.split('.').reverse().join('.')}.in-addr.arpa.`;

it.each(CLUSTER_ROLES)('%s keeps them apart, whoever asked before', async (role) => {
  const { server, api, program } = await startRole(role);
  const look = async (name: string, type: keyof typeof TYPE, from: string, transport: 'udp' | 'tcp') =>
    present(await ask(server, name, type, { from, transport }), name);
  // The first round may leave answers behind for the second one.
  for (const transport of ['udp', 'tcp', 'udp'] as const)
    for (const [key, { address, seenBy }] of SERVICES)
      for (const client of CLIENT_NAMES) {
        const from = CLIENTS[client];
        const isSeen = seenBy.includes(client);
        const name = `${key}.${DOMAIN}`;
        const what = `${key} for ${client} by ${transport}`;
        const found = await askShort(server, name, 'A', { from, transport });
        expect(found, what).toBe(isSeen ? address : 'NXDOMAIN');
        const pointer = await askShort(server, reverse(address), 'PTR', { from, transport });
        expect(pointer === name, what).toBe(isSeen);
        for (const type of ['A', 'AAAA', 'SRV', 'ANY', 'TXT', 'HTTPS'] as const) {
          const absent = await look(`nothing.${key.split('.')[1]}.${DOMAIN}`, type, from, transport);
          const answer = await look(name, type, from, transport);
          if (!isSeen) expect(answer, `${what} ${type}`).toEqual(absent);
        }
        const port = await askShort(server, `_http._tcp.${name}`, 'SRV', { from, transport });
        expect(port === 'NXDOMAIN', what).toBe(!isSeen);
      }
  const short = (name: string, client: ClientName) => askShort(server, name, 'A', { from: CLIENTS[client] });
  expect(await short(`alias.shop.${DOMAIN}`, 'ofA')).not.toContain('10.96.2.1');
  expect(await short(`alias.shop.${DOMAIN}`, 'operator')).toContain('10.96.2.1');
  for (const name of ['db', 'db-0.db'].map((below) => `${below}.bank.${DOMAIN}`)) {
    expect(await short(name, 'ofA')).toBe('NXDOMAIN');
    expect(await short(name, 'ofB')).toBe('10.244.2.9');
  }
  const socket = `--socket=${formatSocketName(program, role)}`;
  const from = `--from=${CLIENTS.ofA}`;
  const { text } = await runToEnd('explain', socket, from, `web.bank.${DOMAIN}`);
  expect(text).toContain('service bank/web is of tenant "b", and the client is of tenant "a"');

  api.put(space('bank', 'a'));
  await expect.poll(() => short(`web.bank.${DOMAIN}`, 'ofA'), PATIENCE).toBe('10.96.2.1');
  api.put(pod('late', 'shop', CLIENTS.stranger));
  await expect.poll(() => short(`web.bank.${DOMAIN}`, 'stranger'), PATIENCE).toBe('10.96.2.1');
  api.delete('Pod', 'late', 'shop');
  await expect.poll(() => short(`web.bank.${DOMAIN}`, 'stranger'), PATIENCE).toBe('NXDOMAIN');
  api.put(service('web.bank', '10.96.2.1', ANNOTATION));
  await expect.poll(() => short(`web.bank.${DOMAIN}`, 'stranger'), PATIENCE).toBe('10.96.2.1');
  api.put(service('web.bank', '10.96.2.1'));
  await expect.poll(() => short(`web.bank.${DOMAIN}`, 'stranger'), PATIENCE).toBe('NXDOMAIN');
});

itWithTool(
  ['kdig', 'curl'],
  'a Corefile does by TLS, HTTPS, gRPC and transfers, and with autopath',
  async () => {
    const api = await startApi(false);
    const [plain = 0, tls = 0, https = 0, grpc = 0] = await Promise.all(
      [1, 2, 3, 4].map(() => findFreePort()),
    );
    const listeners = `.:${plain} tls://.:${tls} https://.:${https} grpc://.:${grpc}`;
    const resolv = await makeTemporaryFolder();
    await resolv.write('resolv.conf', 'search example.test\n');
    const further = `tls ${tlsFixturePath('server.crt')} ${tlsFixturePath('server.key')}
  autopath @kubernetes
  transfer cluster.local {
    to *
  }`;
    const program = runPortolan(await writeCorefileWords('coredns', listeners, api.url, further));
    await waitUntil('the banner', () => program.output.includes('linux/'));
    const server = { address: HOST, port: plain };
    await expect.poll(() => askShort(server, `missing.open.${DOMAIN}`, 'A'), PATIENCE).toBe('NXDOMAIN');

    const authority = tlsFixturePath('authority.crt');
    const byTls = async (name: string, from: string) => {
      const flags = ['+tls', `+tls-ca=${authority}`, '+tls-hostname=localhost', '+short', '-b', from];
      return (await run('kdig', [`@${HOST}`, '-p', String(tls), ...flags, name, 'A'])).stdout.trim();
    };
    const byHttps = async (name: string, from: string) => {
      const query = encodeMessage({ ...makeQuery(name, 'A') });
      const url = `https://localhost:${https}/dns-query?dns=${Buffer.from(query).toString('base64url')}`;
      const flags = [
        '-s',
        '--cacert',
        authority,
        '--interface',
        from,
        '--resolve',
        `localhost:${https}:${HOST}`,
      ];
      const { stdout } = await run('curl', [...flags, url], { encoding: 'buffer' });
      return shortAnswer(decodeMessage(stdout));
    };
    const byGrpc = async (name: string, from: string) => {
      const target = { host: HOST, port: grpc, localAddress: from };
      const createConnection = () =>
        connectByTls({ ...target, ALPNProtocols: ['h2'], rejectUnauthorized: false });
      const session = connect(`https://localhost:${grpc}`, { createConnection });
      const packet = encodeDnsPacket(encodeMessage(makeQuery(name, 'A')));
      const { messages } = await call(session, Buffer.from(packet));
      session.close();
      const [message] = messages;
      return message === undefined ? 'no answer' : shortAnswer(decodeMessage(message));
    };
    for (const [key, { address, seenBy }] of SERVICES)
      for (const client of CLIENT_NAMES)
        for (const by of [byTls, byHttps, byGrpc])
          expect(await by(`${key}.${DOMAIN}`, CLIENTS[client]), `${key} ${client} ${by.name}`).toBe(
            seenBy.includes(client) ? address : '',
          );

    const search = (name: string, client: ClientName) =>
      askShort(server, `${name}.shop.${DOMAIN}`, 'A', { from: CLIENTS[client] });
    expect(await search('web.open', 'ofA')).toContain('10.96.3.1');
    // As a name that no domain of the list has.
    expect(await search('web.bank', 'ofA')).toBe(await search('gone.bank', 'ofA'));

    const transfer = async (client: ClientName) => {
      const flags = ['+timeout=5', '+retry=0', '-b', CLIENTS[client]];
      return (await run('kdig', [`@${HOST}`, '-p', String(plain), ...flags, 'cluster.local', 'AXFR'])).stdout;
    };
    expect(await transfer('operator')).toContain('web.bank.svc.cluster.local.');
    for (const client of CLIENT_NAMES.filter((name) => name !== 'operator'))
      await expect(transfer(client)).rejects.toThrow('REFUSED');
  },
);

function shortAnswer({ answers }: Message): string {
  return answers.map(({ data }) => ('address' in data ? data.address : data.kind)).join();
}
