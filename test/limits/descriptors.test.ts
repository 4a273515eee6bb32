/**
 * With 64 descriptors and 80 idle TCP connections, names of upstream servers are answered in every role, over UDP and TCP.
 */
import { connect } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../src/base/testing/free-port.ts';
import { makeTemporaryFolder } from '../../src/base/testing/temporary-folder.ts';
import { waitUntil } from '../../src/base/testing/wait-until.ts';
import { ask, askShort, type Server } from '../../src/chain/testing/ask.ts';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { startEtcd } from '../etcd/etcd-server.ts';
import { nameOf, startUpstream } from '../resolver/forwarding-programs.ts';
import { endAllPrograms, type Program, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const LIMIT = 64;
const IDLE = 80;
const QUESTIONS = 10;

interface Starting {
  /** `127.0.0.1:5300`. */
  readonly upstream: string;
  readonly port: number;
}

async function writeCorefile({ upstream, port }: Starting): Promise<string> {
  const folder = await makeTemporaryFolder();
  const text = `.:${port} {\n bind 127.0.0.1\n errors\n cache 30\n forward . ${upstream}\n}\n`;
  return await folder.write('Corefile', text);
}

/** The arguments of each role. */
const ROLES: ReadonlyMap<string, (starting: Starting) => Promise<readonly string[]>> = new Map([
  [
    'serve',
    async ({ upstream, port }: Starting) => [
      ...['--example', '--dns-bind-address', '127.0.0.1', '--dns-port', String(port)],
      ...['--healthz-port', '0', '--upstream', upstream],
    ],
  ],
  [
    'kube-dns',
    async ({ upstream, port }: Starting) => {
      const cluster = await ApiServerDouble.start({ objects: [] });
      onTestFinished(() => cluster.stop());
      return [
        ...['--domain=cluster.local.', `--dns-port=${port}`, '--dns-bind-address=127.0.0.1'],
        ...['--healthz-port=0', `--kube-master-url=${cluster.url}`, `--nameservers=${upstream}`],
      ];
    },
  ],
  ['coredns', async (starting: Starting) => ['-conf', await writeCorefile(starting)]],
  [
    'node-cache',
    async (starting: Starting) => [
      ...['-conf', await writeCorefile(starting), '-localip', '127.0.0.1', '-setupinterface=false'],
      ...['-setupiptables=false', '-metrics-listen-address', '127.0.0.1:0'],
    ],
  ],
  [
    'dnsmasq',
    async ({ upstream, port }: Starting) => [
      ...['-k', '-C', '/dev/null', '--no-hosts', '--no-resolv', '-a', '127.0.0.1', '-z', '--log-facility=-'],
      ...['--user=', '--group=', '-p', String(port), `--server=${upstream.replace(':', '#')}`],
    ],
  ],
  [
    'skydns',
    async ({ upstream, port }: Starting) => [
      ...['-etcd3', '-machines', (await startEtcd()).first.url, '-addr', `127.0.0.1:${port}`],
      ...['-domain', 'skydns.test.', '-nameservers', upstream],
    ],
  ],
]);

async function isServing(server: Server): Promise<boolean> {
  return await askShort(server, `${nameOf(QUESTIONS)}.`, 'A', { deadline: 500 }).then(
    (answer) => answer === '192.0.2.1',
    () => false,
  );
}

async function start(role: string, starting: Starting): Promise<Program> {
  const words = (await ROLES.get(role)?.(starting)) ?? [];
  const through = ['sh', '-c', `ulimit -n ${LIMIT} && exec "$0" "$@"`];
  const program = runPortolan([role, ...words], { through });
  const server = { address: '127.0.0.1', port: starting.port };
  while (program.ended === undefined && !(await isServing(server)));
  expect(program.ended, program.output + program.errors).toBe(undefined);
  return program;
}

/** Opens connections that ask nothing. @returns how many are open now */
function openIdle(port: number): () => number {
  let open = 0;
  const sockets = Array.from({ length: IDLE }, () => {
    const socket = connect(port, '127.0.0.1', () => {
      open += 1;
    });
    const isOpen = () => !socket.connecting;
    socket.on('error', () => {});
    socket.on('close', () => {
      if (isOpen()) open -= 1;
    });
    socket.resume();
    return socket;
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return () => open;
}

const SHORT = 'file descriptors are short: idle connections of clients are closed early';

describe.each([...ROLES.keys()])('%s with few descriptors and many idle connections', (role) => {
  it('answers names of upstream servers', async () => {
    const upstream = await startUpstream();
    const port = await findFreePort();
    const program = await start(role, { upstream: upstream.address, port });
    const open = openIdle(port);
    const log = () => program.output + program.errors;
    await waitUntil('the shortage', () => log().includes(SHORT));
    await waitUntil('the rest', () => open() > 0 && open() < LIMIT / 2);
    const server: Server = { address: '127.0.0.1', port };
    for (let index = 0; index < QUESTIONS; index += 1) {
      const transport = index % 2 === 0 ? 'udp' : 'tcp';
      const { header, answers } = await ask(server, `${nameOf(index)}.`, 'A', { transport });
      expect([header.rcode, answers.length]).toEqual([0, 1]);
    }
    expect(log().split(SHORT)).toHaveLength(2);
    expect(log()).not.toContain('EMFILE');
  });
});
