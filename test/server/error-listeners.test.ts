/**
 * Whatever opens a socket, a server or a process hears its errors, from its first turn to its last: an `error` event that nobody hears
 * ends the process. The peers of these refuse a connection, reset it while it is open, and reset it while it ends.
 */
import { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import { connect, createServer, Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { isServedAt } from '@portolan/frontends/node-cache/network/local-probe.ts';
import { RulesWatcher } from '@portolan/frontends/node-cache/network/rules-watcher.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { createRunProgram } from '@portolan/kernel/base/run-program.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { findLocalAddress } from '@portolan/kernel/forward/network-errors.ts';
import { AskedServer } from '@portolan/ops/compare/asked-server.ts';
import { LeftOut } from '@portolan/ops/compare/question-source.ts';
import { findPods } from '@portolan/ops/dashboard/pod-replicas.ts';
import { runShellCommand } from '@portolan/ops/healthz/shell-command.ts';
import { LiveQuestions } from '@portolan/ops/shadow/live-questions.ts';
import { askServer } from '@portolan/ops/sidecar/server-question.ts';
import { TapConnection } from '@portolan/plugins/dnstap/tap-connection.ts';
import { DnstapListener } from '@portolan/plugins/dnstap/tap-listener.ts';
import { fetchSerial } from '@portolan/plugins/secondary/fetch-zone.ts';
import { CacheHandover } from '@portolan/server/cache-handover.ts';
import { requestControl } from '@portolan/server/observe/control/control-client.ts';
import { ControlSocket } from '@portolan/server/observe/control/control-socket.ts';
import { HttpHost } from '@portolan/server/observe/http-host.ts';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';

const clock = systemClock;
const log = silentLog;

/** What was opened in this process, and is not closed. */
const open = new Map<EventEmitter, string>();
const deaf = new Set<string>();
let isWatching = false;

function watch(emitter: EventEmitter, what: string): void {
  open.set(emitter, what);
  emitter.once('close', () => open.delete(emitter));
}

/** Looks in each turn of the event loop whether everything that is open is heard. */
async function look(): Promise<void> {
  while (isWatching) {
    for (const [emitter, what] of open)
      for (const [part, each] of listEmitters(emitter))
        if (each.listenerCount('error') === 0) deaf.add(`${what}${part}`);
    await nextTurn();
  }
}

function listEmitters(emitter: EventEmitter): readonly (readonly [string, EventEmitter])[] {
  if (!(emitter instanceof ChildProcess)) return [['', emitter]];
  const pipes = Object.entries({ stdin: emitter.stdin, stdout: emitter.stdout, stderr: emitter.stderr });
  return [
    ['', emitter],
    ...pipes.flatMap(([name, pipe]) => (pipe === null ? [] : [[` ${name}`, pipe] as const])),
  ];
}

/** Sockets of children's pipes are parts of the children. */
const onClient = (message: unknown): void => watch((message as { socket: Socket }).socket, 'client socket');
const onAccepted = (message: unknown): void =>
  watch((message as { socket: Socket }).socket, 'accepted socket');
const onDatagram = (message: unknown): void =>
  watch((message as { socket: EventEmitter }).socket, 'datagram socket');
const onChild = (message: unknown): void => watch((message as { process: ChildProcess }).process, 'process');
const CHANNELS = {
  'net.client.socket': onClient,
  'net.server.socket': onAccepted,
  'udp.socket': onDatagram,
  child_process: onChild,
};

/** Runs it, and @returns what was not heard at some time */
async function findDeaf(run: () => Promise<void>): Promise<readonly string[]> {
  for (const [name, listener] of Object.entries(CHANNELS)) subscribe(name, listener);
  const listen = Server.prototype.listen;
  vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...words: unknown[]) {
    watch(this, 'server');
    return Reflect.apply(listen, this, words);
  });
  isWatching = true;
  const looking = look();
  try {
    await run();
    // Such as too many open files.
    for (const [emitter, what] of open) if (what === 'server') emitter.emit('error', new Error('injected'));
    await nextTurn();
  } finally {
    isWatching = false;
    await looking;
    for (const [name, listener] of Object.entries(CHANNELS)) unsubscribe(name, listener);
    vi.restoreAllMocks();
  }
  return [...deaf];
}

afterEach(() => {
  open.clear();
  deaf.clear();
});

const ENDS = ['refuses', 'resets', 'resets after a request', 'answers, and resets'] as const;
type BadPeer = { readonly port: number; readonly path: string };

/** A peer on a port and on a path that ends its connections badly. */
async function startPeer(end: (typeof ENDS)[number]): Promise<BadPeer> {
  const path = join((await makeTemporaryFolder()).path, 'socket');
  const port = await findFreePort();
  if (end === 'refuses') return { port, path };
  const onConnection = (socket: Socket) => {
    socket.on('error', () => {});
    if (end === 'resets') socket.destroy();
    socket.once('readable', () => {
      if (end === 'answers, and resets') socket.write('{"data":1}\n');
      // Unread octets make it a reset.
      socket.destroy();
    });
  };
  for (const place of [{ path }, { port, host: '127.0.0.1' }]) {
    const server = createServer(onConnection);
    server.on('error', () => {});
    await new Promise<void>((resolve) => server.listen(place, resolve));
    onTestFinished(() => void server.close());
  }
  return { port, path };
}

const settled = async (work: Promise<unknown>): Promise<void> => void (await work.catch(() => {}));
const question = {
  name: parseName('a.test'),
  type: 1,
  class: 1,
  recursionDesired: true,
  authenticData: false,
} as const;
const asked = { ...question, checkingDisabled: false, edns: undefined };

const CLIENTS: Readonly<Record<string, (peer: BadPeer) => Promise<void>>> = {
  control: async ({ path }) => {
    const all = async () => {
      for await (const _ of requestControl(path, { verb: 'doctor', words: ['x'.repeat(100_000)] }));
    };
    await expect(all()).rejects.toThrow(/no server found|closed the connection before the end/);
  },
  compare: async ({ port }) => {
    const server = new AskedServer({ transport: 'tcp', address: '127.0.0.1', port }, 1_000, clock);
    await settled(server.ask(asked, true));
    server.close();
  },
  'compare by UDP': async ({ port }) => {
    const server = new AskedServer({ transport: 'udp', address: '127.0.0.1', port }, 200, clock);
    await settled(server.ask(asked, false));
    server.close();
  },
  secondary: ({ port }) =>
    settled(
      fetchSerial({ origin: toKey(parseName('a.test')), primary: { address: '127.0.0.1', port }, clock }),
    ),
  dnstap: async ({ port }) => {
    const endpoint = { kind: 'tcp', host: '127.0.0.1', port, skipsVerification: false } as const;
    const tap = new TapConnection({ endpoint, maxQueued: 10, maxOctets: 1_000 }, { clock, log });
    tap.start();
    tap.send(new Uint8Array(8));
    await waitUntil('the connection to end', () => open.size === 0);
    await tap.stop();
  },
  sidecar: ({ port }) =>
    settled(
      askServer({ address: '127.0.0.1', port }, { name: parseName('a.test'), type: 1, class: 1 }, clock),
    ),
  'probe of a node cache': ({ port }) => settled(isServedAt('127.0.0.1', port, clock)),
  'address for errors': ({ port }) => settled(findLocalAddress({ address: '127.0.0.1', port })),
};

describe.each(ENDS)('a peer that %s', (end) => {
  for (const [name, run] of Object.entries(CLIENTS))
    it(`is heard by: ${name}`, async () => {
      const peer = await startPeer(end);
      expect(await findDeaf(() => run(peer))).toEqual([]);
    });
});

/** Opens a client, which leaves without a word. */
async function visit(place: { readonly path: string } | { readonly port: number }): Promise<void> {
  const client = connect({ host: '127.0.0.1', ...place });
  client.on('error', () => {});
  await new Promise<void>((resolve) =>
    client.once('connect', () => resolve()).once('close', () => resolve()),
  );
  client.write('x');
  client.destroy();
  await nextTurn();
}

const SERVERS: Readonly<Record<string, (peer: BadPeer) => Promise<() => unknown>>> = {
  control: async ({ path }) => {
    const place = { kind: 'file', path, isDefault: false } as const;
    const socket = new ControlSocket({
      place,
      role: 'test',
      async *carryOut() {},
      changes: () => false,
      log,
    });
    await socket.start();
    await visit({ path });
    return () => socket.stop();
  },
  'handover of the cache': async ({ port }) => {
    const endpoints = [`127.0.0.1:${port}`];
    const handover = new CacheHandover({ endpoints, keepers: () => new Map(), clock, log });
    handover.offer();
    await handover.inherit();
    return () => handover.stop();
  },
  shadow: async ({ path }) => {
    const questions = new LiveQuestions(new LeftOut());
    await questions.listen({ kind: 'unix', path });
    await visit({ path });
    return () => questions.close();
  },
  'dnstap collectors': async ({ path }) => {
    const listener = new DnstapListener(
      { endpoint: { kind: 'unix', path }, listens: { certificate: undefined }, maxOctets: 1_000 },
      { clock, log },
    );
    await listener.start();
    await visit({ path });
    return () => listener.stop();
  },
  http: async ({ port }) => {
    const options = { address: '127.0.0.1', port, waitForPort: false, flag: '--port' };
    const host = new HttpHost({ clock, log });
    await host.open({ name: 'one', options, routes: new Map() });
    await visit({ port });
    return () => host.stop();
  },
};

describe('a server is heard, and its clients are', () => {
  for (const [name, start] of Object.entries(SERVERS))
    it(name, async () => {
      const peer = await startPeer('refuses');
      const stops: (() => unknown)[] = [];
      expect(await findDeaf(async () => void stops.push(await start(peer)))).toEqual([]);
      await stops[0]?.();
    });
});

const PROCESSES: Readonly<Record<string, () => Promise<void>>> = {
  'healthz, which kills it': async () => {
    const running = runShellCommand('sleep 100', 10_000, clock);
    running.kill();
    await running.ended;
  },
  'a program of the system': async () => {
    const run = createRunProgram(clock);
    expect(await run({ program: 'cat', words: [], input: 'x' })).toBe('x');
    await expect(run({ program: '/nonexistent', words: [] })).rejects.toThrow('ENOENT');
    await expect(run({ program: 'false', words: [], input: 'x'.repeat(1_000_000) })).rejects.toThrow('1');
  },
  'the watcher of rules': async () => {
    const watcher = new RulesWatcher({ removal: [], endpoint: undefined, onRemoved: () => {}, clock });
    watcher.start();
    await nextTurn();
    watcher.stop();
    await waitUntil('the shell to end', () => open.size === 0);
  },
  'the pods of a dashboard': async () => {
    const place = { namespace: 'a', selector: 'b', container: undefined, context: undefined };
    await expect(findPods(place, { command: 'false', clock })(AbortSignal.timeout(10_000))).rejects.toThrow(
      'ended with 1',
    );
    await expect(
      findPods(place, { command: '/nonexistent', clock })(AbortSignal.timeout(10_000)),
    ).rejects.toThrow('ENOENT');
  },
};

describe('a process is heard, and its pipes are', () => {
  for (const [name, run] of Object.entries(PROCESSES))
    it(name, async () => {
      expect(await findDeaf(run)).toEqual([]);
    });
});
