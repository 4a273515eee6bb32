/**
 * The life of a server process in every role: a stop signal during the start, the order of the stop, and what a failed start says.
 */

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { addressOfPlace, placesToAsk } from '@portolan/server/observe/control/control-place.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { formatSocketName } from '../support/control.ts';
import { endAllPrograms } from '../support/portolan.ts';
import { ALL_ROLES, HOST, isServing, launchRole, type Role, startRole } from '../support/roles.ts';
import { itWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

/** Nothing listens on port 9. */
const NO_UPSTREAM = 9;
const listTools = (role: Role) => (role === 'skydns' ? ['etcd'] : []);
/** Flags of servers that would serve on after a signal. */
const ENDS_AT_ONCE: Partial<Readonly<Record<Role, readonly string[]>>> = {
  serve: ['--lameduck=0s'],
  'kube-dns': ['--lameduck=0s'],
};

const SILENT_CLUSTER = `http://${HOST}:9`;
/** Roles whose start may wait for an API server, and how it does. The wait for etcd is in `stopping.soak.test.ts`; dnsmasq waits for nothing. */
const WAITING = ['serve', 'kube-dns', 'coredns', 'node-cache'] as const;
const TAKEOVER = ['--takeover', `--kube-master-url=${SILENT_CLUSTER}`, '--initial-sync-timeout=1h'];
const KUBERNETES = `kubernetes waiting.test {\n  endpoint ${SILENT_CLUSTER}\n  startup_timeout 1h\n }`;

it.each(WAITING)('a stop signal ends a start that waits: %s', async (role) => {
  const world = { upstream: NO_UPSTREAM, directives: KUBERNETES };
  const hasCorefile = role === 'coredns' || role === 'node-cache';
  const { program } = hasCorefile
    ? await launchRole(role, world)
    : await launchRole(role, { upstream: NO_UPSTREAM, cluster: TAKEOVER });
  const isWaiting = () => /waiting for Kubernetes API|cluster found/.test(program.output + program.errors);
  await waitUntil('it to wait', isWaiting);
  program.signal('SIGTERM');
  expect(await program.exit).toEqual({ code: 0, signal: null });
  expect(isServing(role, program)).toBe(false);
});

/** What another process sees of a server. */
interface Sight {
  readonly isAnswering: boolean;
  readonly isControlled: boolean;
}

/** A collector that refuses all records, so that a server sends them until its end. */
async function startRefusingCollector(onRequest: () => Promise<void>): Promise<string> {
  const server = createServer(async (request, response) => {
    request.resume();
    await onRequest();
    response.writeHead(503).end();
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `http://${HOST}:${port}`;
}

async function canConnect(
  place: string | { readonly host: string; readonly port: number },
): Promise<boolean> {
  const socket = typeof place === 'string' ? connect(place) : connect(place);
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}

function findControlAddress(program: Program, role: Role): string {
  const command = role === 'dnsmasq-nanny' ? 'dnsmasq' : role;
  const [place] = placesToAsk(formatSocketName(program, command));
  if (place === undefined || place.kind === 'none') throw new Error('no place');
  return addressOfPlace(place);
}

/** The process stands still meanwhile, so that none of its timers ends. */
async function lookAt({ program, port }: { program: Program; port: number }, role: Role): Promise<Sight> {
  program.signal('SIGSTOP');
  const isAnswering = await canConnect({ host: HOST, port });
  const isControlled = await canConnect(findControlAddress(program, role));
  program.signal('SIGCONT');
  return { isAnswering, isControlled };
}

describe('a stop closes the sockets for DNS, sends the last records, and then closes the control socket', () => {
  for (const role of ALL_ROLES)
    itWithTool(listTools(role), role, async () => {
      const sights: Sight[] = [];
      let running: { program: Program; port: number } | undefined;
      const collector = await startRefusingCollector(async () => {
        if (running !== undefined) sights.push(await lookAt(running, role));
      });
      running = await startRole(
        role,
        { upstream: NO_UPSTREAM },
        {
          environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector },
          flags: ENDS_AT_ONCE[role] ?? [],
        },
      );
      await waitUntil('the first records', () => sights.length > 0);
      expect(sights[0]).toEqual({ isAnswering: true, isControlled: true });
      running.program.signal('SIGTERM');
      expect(await running.program.exit).toEqual({ code: 0, signal: null });
      expect(sights.at(-1)).toEqual({ isAnswering: false, isControlled: true });
      expect(await canConnect(findControlAddress(running.program, role))).toBe(false);
    });
});

/** The exit code of each role if its port is in use, and what it says. */
const IN_USE: Readonly<Record<Role, readonly [code: number, message: RegExp]>> = {
  serve: [1, /"level":"error","message":"cannot serve","reason":"port in use: /],
  'kube-dns': [1, /"level":"error","message":"cannot serve","reason":"port in use: /],
  coredns: [1, /^Listen: listen (udp|tcp) 127\.0\.0\.1:\d+: bind: address already in use\n {2}port in use/m],
  'node-cache': [1, /^Listen: listen (udp|tcp) 127\.0\.0\.1:\d+: bind: address already in use\n {2}port in/m],
  dnsmasq: [2, /^\nportolan dnsmasq: port in use: 127\.0\.0\.1:\d+ .*\n$/m],
  'dnsmasq-nanny': [2, /^\nportolan dnsmasq-nanny: port in use: 127\.0\.0\.1:\d+ .*\n$/m],
  skydns: [1, /^portolan skydns: port in use: 127\.0\.0\.1:\d+ /m],
};

describe('a start fails if its port is in use', () => {
  for (const role of ALL_ROLES)
    itWithTool(listTools(role), role, async () => {
      const port = await findFreePort();
      await holdPort(port);
      const { program } = await launchRole(role, { upstream: NO_UPSTREAM }, { port });
      const [code, message] = IN_USE[role];
      expect(await program.exit).toEqual({ code, signal: null });
      expect(program.errors).toMatch(message);
      expect(isServing(role, program)).toBe(false);
    });
});

/** For DNS over UDP and TCP. */
async function holdPort(port: number): Promise<void> {
  const udp = createSocket('udp4');
  const tcp = createTcpServer();
  udp.bind(port, HOST);
  tcp.listen(port, HOST);
  await Promise.all([once(udp, 'listening'), once(tcp, 'listening')]);
  onTestFinished(() => {
    udp.close();
    tcp.close();
  });
}

/** The address of the page that a server shows of itself, with its token. */
const PAGE = /http:\/\/127\.0\.0\.1:(\d+)\/#token=[\w-]+/;

describe('a server shows its own dashboard until it has stopped', () => {
  for (const role of ALL_ROLES)
    itWithTool(listTools(role), role, async () => {
      const flags = [`--dashboard=${HOST}:0`, ...(ENDS_AT_ONCE[role] ?? [])];
      const { program } = await startRole(role, { upstream: NO_UPSTREAM }, { flags });
      const [page = '', port] = PAGE.exec(`${program.output}${program.errors}`) ?? [];
      expect((await fetch(page)).status).toBe(200);
      program.signal('SIGTERM');
      expect(await program.exit).toEqual({ code: 0, signal: null });
      expect(await canConnect({ host: HOST, port: Number(port) })).toBe(false);
    });
});
