// Starts each server as built, lets it list its cluster and answer, and stops it. Each thread records the functions that it has run.
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { ApiDouble, SERVICE } from './api-double.mjs';

/** Of this process alone: no other build takes the ports. */
const ADDRESS = `127.${1 + (process.pid >> 16)}.${(process.pid >> 8) & 255}.${process.pid & 255}`;
/** Milliseconds between two tries. */
const INTERVAL = 20;
/**
 * Milliseconds after which an answer no longer comes: a port that is opened twice loses a query. On a busy machine an answer takes
 * seconds, and other functions answer a query that is repeated meanwhile.
 */
const LOST_MILLISECONDS = 30_000;
const PATIENCE_MILLISECONDS = 300_000;
/** What is asked in each state. Often enough for all that happens only if one thread is before another. */
const QUESTIONS = [SERVICE, ...['a', 'b', 'c', 'd', 'e', 'f'].map((label) => `${label}.outside.example`)];
/** The upstream fails. */
const FAILING = ['g', 'h', 'i'].map((label) => `${label}.failing.example`);
const SERVFAIL = 2;
/** The upstream answers later than a reader waits at once. */
const LATE = ['j.late.example'];
const LATE_MILLISECONDS = 300;
const CHANGES = 3;

/** The arguments of each command. @param scene the port to answer at, a folder, the address of the API server, that of the upstream */
const COMMANDS = {
  serve: listClusterFlags,
  'kube-dns': (scene) => ['--domain=cluster.local.', ...listClusterFlags(scene)],
  coredns({ port, folder, api, upstream }) {
    const corefile = join(folder, 'Corefile');
    writeFileSync(
      corefile,
      `.:${port} {\n bind ${ADDRESS}\n errors\n kubernetes cluster.local in-addr.arpa ip6.arpa {\n  endpoint ${api}\n  pods insecure\n` +
        `  fallthrough in-addr.arpa ip6.arpa\n }\n forward . ${ADDRESS}:${upstream}\n cache 30\n loop\n reload\n loadbalance\n}\n`,
    );
    return ['-conf', corefile];
  },
  'node-cache'({ port, folder, upstream }) {
    const corefile = join(folder, 'Corefile');
    writeFileSync(
      corefile,
      `.:${port} {\n errors\n cache 30\n reload\n loop\n bind ${ADDRESS}\n forward . ${ADDRESS}:${upstream}\n}\n`,
    );
    return [
      ...['-localip', ADDRESS, '-conf', corefile, '-setupinterface=false', '-setupiptables=false'],
      ...['-metrics-listen-address', `${ADDRESS}:0`],
    ];
  },
  dnsmasq: listDnsmasqOptions,
  'dnsmasq-nanny': (scene) => [
    '-logtostderr',
    `-configDir=${scene.folder}`,
    '--',
    ...listDnsmasqOptions(scene),
  ],
  skydns: ({ port, api, upstream }) => [
    ...['-machines', api, '-domain', 'cluster.local.'],
    ...['-addr', `${ADDRESS}:${port}`, '-nameservers', `${ADDRESS}:${upstream}`],
  ],
};

/** The commands that it can start. */
export const STARTED = Object.keys(COMMANDS);
/** Those that list what they answer from. */
const LISTING = ['serve', 'kube-dns', 'coredns', 'skydns'];

function listClusterFlags({ port, api, upstream }) {
  return [
    ...['--dns-bind-address', ADDRESS, '--dns-port', String(port), '--healthz-port', `${ADDRESS}:0`],
    ...[`--kube-master-url=${api}`, '--lameduck=0s', `--upstream=${ADDRESS}:${upstream}`],
  ];
}

function listDnsmasqOptions({ port, upstream }) {
  return [
    ...['--keep-in-foreground', '--no-resolv', '--no-hosts', '--conf-file=/dev/null', '--pid-file'],
    ...[
      `--listen-address=${ADDRESS}`,
      '--bind-interfaces',
      `--port=${port}`,
      `--server=${ADDRESS}#${upstream}`,
      // The server of the nanny has the real user, and needs no other.
      '--user=root',
    ],
  ];
}

/**
 * @param dist the folder of built code
 * @param folder an empty one
 * @returns the first positions of the functions that run, by the name of their bundle
 * @throws Error with all servers that did not answer, and what they said
 */
export async function recordStarts(dist, folder) {
  const upstream = createSocket('udp4');
  upstream.on('message', (query, from) => {
    // QR and RA, no records.
    query[2] |= 0x80;
    query[3] |= query.includes('failing') ? 0x80 | SERVFAIL : 0x80;
    const answer = () => upstream.send(query, from.port, from.address);
    if (query.includes('late')) setTimeout(answer, LATE_MILLISECONDS);
    else answer();
  });
  upstream.bind(0, ADDRESS);
  await once(upstream, 'listening');
  try {
    const start = (command) => startServer(dist, command, join(folder, command), upstream.address().port);
    const results = await Promise.allSettled(STARTED.map(start));
    const failures = results.flatMap(({ reason }) => (reason === undefined ? [] : [reason.message]));
    if (failures.length > 0) throw new Error(failures.join('\n'));
    return readRecords(folder);
  } finally {
    upstream.close();
  }
}

async function startServer(dist, command, folder, upstream) {
  mkdirSync(folder, { recursive: true });
  const cluster = new ApiDouble();
  const client = new Client();
  try {
    const port = await findFreePort();
    const scene = { port, folder, upstream, api: await cluster.start() };
    const recording = `--import=${new URL('record-functions.mjs', import.meta.url)}`;
    const child = spawn(
      process.execPath,
      [recording, resolve(dist, 'portolan.js'), command, ...COMMANDS[command](scene)],
      {
        // Not every machine of a build lets a process confine itself.
        env: { PATH: process.env.PATH, HOME: folder, CODE_CACHE_RECORDS: folder, PORTOLAN_SECCOMP: 'off' },
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      },
    );
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      errors += text;
    });
    const ended = once(child, 'exit');
    await client.connect(port);
    setTimeout(() => child.kill('SIGKILL'), PATIENCE_MILLISECONDS).unref();
    const failure = await Promise.race([
      converse(command, client, cluster),
      ended.then(() => 'it ended before it answered'),
    ]);
    if (failure === undefined && child.connected) child.send('end');
    else child.kill('SIGKILL');
    const [code] = await ended;
    if (failure !== undefined || code !== 0)
      throw new Error(`${command}: ${failure ?? `it ended with ${code}`}\n${errors}`);
  } finally {
    client.close();
    cluster.stop();
  }
}

/** Asks once all is listed, always in the same order, until client or cluster are gone. @returns what failed */
async function converse(command, client, cluster) {
  if (LISTING.includes(command)) await cluster.untilWatched();
  for (const name of QUESTIONS)
    if ((await client.ask(name)) !== 0) return `an answer for ${name} had an error`;
  for (const name of [...FAILING, ...LATE]) await client.ask(name);
  for (let change = 0; change < CHANGES; change += 1) {
    cluster.change();
    await client.ask(SERVICE);
  }
  return undefined;
}

function readRecords(folder) {
  const starts = {};
  for (const path of readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.json'))) {
    const [bundle] = path.split('/').at(-1).split('.');
    starts[bundle] ??= new Set();
    for (const position of JSON.parse(readFileSync(join(folder, path), 'utf8'))) starts[bundle].add(position);
  }
  return Object.entries(starts).map(([bundle, positions]) => ({
    bundle,
    starts: [...positions].sort((one, other) => one - other),
  }));
}

/** Below those of tests, and the ephemeral ones of Linux, which connections of other programs take at any time. */
const FIRST_PORT = 12_000;
const PORTS = 8_000;
let nextPort = FIRST_PORT;

/** @returns a port that is free over UDP and TCP */
async function findFreePort() {
  for (let tries = 0; tries < PORTS; tries += 1) {
    nextPort = nextPort + 1 < FIRST_PORT + PORTS ? nextPort + 1 : FIRST_PORT;
    const port = nextPort;
    const sockets = [createSocket('udp4').bind(port, ADDRESS), createServer().listen(port, ADDRESS)];
    const opened = await Promise.allSettled(sockets.map((socket) => once(socket, 'listening')));
    const isFree = opened.every(({ status }) => status === 'fulfilled');
    for (const [index, { status }] of opened.entries()) if (status === 'fulfilled') sockets[index].close();
    if (isFree) return port;
  }
  throw new Error(`no port is free over UDP and TCP: ${PORTS} tried from ${FIRST_PORT}`);
}

class Client {
  #socket = createSocket('udp4');
  #last = 0;

  async connect(port) {
    this.#socket.connect(port, ADDRESS);
    await once(this.#socket, 'connect');
    // The kernel refuses queries before the port is open.
    this.#socket.on('error', () => {});
  }

  /** @returns the RCODE @throws Error once it is closed */
  async ask(name) {
    this.#last += 1;
    const header = [0, this.#last, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    const labels = name.split('.').flatMap((label) => [label.length, ...Buffer.from(label)]);
    const query = Buffer.from([...header, ...labels, 0, 0, 1, 0, 1]);
    for (;;) {
      this.#socket.send(query);
      try {
        const [answer] = await once(this.#socket, 'message', {
          signal: AbortSignal.timeout(LOST_MILLISECONDS),
        });
        if (answer[1] === this.#last) return answer[3] & 15;
      } catch {
        await new Promise((done) => setTimeout(done, INTERVAL));
      }
    }
  }

  close() {
    this.#socket.close();
  }
}
