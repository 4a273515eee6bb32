// Writes V8's code caches into a folder of built code: runs each server there until it answers, and lets it end, when each thread
// writes the code that it has compiled. `packages/cli/src/process/cached-bundle.ts` reads them.
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';

const ADDRESS = '127.0.0.1';
const PATIENCE_MILLISECONDS = 60_000;
const NAME = 'web.default.svc.cluster.local';

/** @returns the commands that wrote no cache, with the reason; empty if all did */
export async function writeCodeCaches(dist, commands) {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-build-'));
  const cluster = createServer(answerAsCluster);
  const upstream = createSocket('udp4');
  upstream.on('message', (query, from) => {
    // QR and RA, NOERROR, no records.
    query[2] |= 0x80;
    query[3] |= 0x80;
    upstream.send(query, from.port, from.address);
  });
  try {
    cluster.listen(0, ADDRESS);
    upstream.bind(0, ADDRESS);
    await Promise.all([once(cluster, 'listening'), once(upstream, 'listening')]);
    const scene = {
      folder,
      api: `http://${ADDRESS}:${cluster.address().port}`,
      upstream: upstream.address().port,
    };
    const describe = async (command) => {
      const failure = await run(dist, command, scene);
      return failure === undefined ? [] : [`${command}: ${failure}`];
    };
    return (await Promise.all(commands.map(describe))).flat();
  } finally {
    cluster.closeAllConnections();
    cluster.close();
    upstream.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One Service with one endpoint. Lists are answered, watches stay open. */
function answerAsCluster(request, response) {
  const url = new URL(request.url, 'http://cluster');
  const metadata = { name: 'web', namespace: 'default' };
  const ports = [{ name: 'http', port: 80, protocol: 'TCP' }];
  const objects = {
    services: { metadata, spec: { clusterIP: '10.96.0.10', ports } },
    endpointslices: {
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.244.0.1'], conditions: {} }],
      ports,
    },
    namespaces: { metadata: { name: 'default' } },
  };
  const object = objects[url.pathname.split('/').at(-1)];
  const isStream = url.searchParams.has('sendInitialEvents');
  const status = isStream ? 422 : object === undefined ? 404 : 200;
  response.writeHead(status, { 'content-type': 'application/json' });
  if (status !== 200) response.end(JSON.stringify({ kind: 'Status', code: status, message: 'not here' }));
  else if (url.searchParams.has('watch')) response.flushHeaders();
  else response.end(JSON.stringify({ kind: 'List', metadata: { resourceVersion: '1' }, items: [object] }));
}

async function run(dist, command, scene) {
  const port = await findFreePort();
  const child = spawn(
    process.execPath,
    [resolve(dist, 'portolan.js'), command, ...listArguments(command, port, scene)],
    {
      env: { PATH: process.env.PATH, HOME: scene.folder, PORTOLAN_WRITE_CODE_CACHE: '1' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  const exit = once(child, 'exit');
  const isAnswered = await Promise.race([untilAnswered(port), exit.then(() => false)]);
  child.kill('SIGTERM');
  const overdue = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MILLISECONDS);
  await exit;
  clearTimeout(overdue);
  const isWritten = existsSync(resolve(dist, `${command}.${process.arch}.cache`));
  return isAnswered && isWritten ? undefined : `${isAnswered ? 'nothing written' : 'no answer'}\n${errors}`;
}

function listArguments(command, port, { folder, api, upstream }) {
  const server = `${ADDRESS}:${upstream}`;
  const clusterFlags = [
    '--dns-bind-address',
    ADDRESS,
    '--dns-port',
    String(port),
    '--healthz-port',
    `${ADDRESS}:0`,
    `--kube-master-url=${api}`,
    '--lameduck=0s',
    `--upstream=${server}`,
  ];
  const dnsmasqOptions = [
    '--keep-in-foreground',
    '--no-resolv',
    '--no-hosts',
    '--conf-file=/dev/null',
    '--pid-file',
    `--listen-address=${ADDRESS}`,
    '--bind-interfaces',
    `--port=${port}`,
    `--server=${ADDRESS}#${upstream}`,
    // As another user it could not write its cache.
    `--user=${userInfo().username}`,
  ];
  const corefile = join(folder, command);
  switch (command) {
    case 'serve':
      return clusterFlags;
    case 'kube-dns':
      return ['--domain=cluster.local.', ...clusterFlags];
    case 'coredns':
      writeFileSync(
        corefile,
        `.:${port} {\n bind ${ADDRESS}\n errors\n kubernetes cluster.local in-addr.arpa ip6.arpa {\n  endpoint ${api}\n  pods insecure\n` +
          `  fallthrough in-addr.arpa ip6.arpa\n }\n forward . ${server}\n cache 30\n loop\n reload\n loadbalance\n}\n`,
      );
      return ['-conf', corefile];
    case 'node-cache':
      writeFileSync(
        corefile,
        `.:${port} {\n errors\n cache 30\n reload\n loop\n bind ${ADDRESS}\n forward . ${server}\n}\n`,
      );
      return ['-localip', ADDRESS, '-conf', corefile, '-setupinterface=false', '-setupiptables=false'];
    case 'dnsmasq':
      return dnsmasqOptions;
    case 'dnsmasq-nanny':
      return ['-logtostderr', `-configDir=${folder}`, '--', ...dnsmasqOptions];
    case 'skydns':
      return ['-machines', api, '-addr', `${ADDRESS}:${port}`, '-nameservers', server];
    default:
      throw new Error(`no arguments known to start it with: ${command}`);
  }
}

/** Below those of tests, and the ephemeral ones of Linux, which connections of other programs take at any time. */
const FIRST_PORT = 12_000;
const PORTS = 8_000;
let nextPort = FIRST_PORT + ((process.pid * 16) % PORTS);

/** @returns a port that is free over UDP and TCP */
async function findFreePort() {
  for (let tries = 0; tries < PORTS; tries += 1) {
    nextPort = nextPort + 1 < FIRST_PORT + PORTS ? nextPort + 1 : FIRST_PORT;
    const port = nextPort;
    const sockets = [createSocket('udp4').bind(port, ADDRESS), createTcpServer().listen(port, ADDRESS)];
    const opened = await Promise.allSettled(sockets.map((socket) => once(socket, 'listening')));
    const isFree = opened.every(({ status }) => status === 'fulfilled');
    for (const [index, { status }] of opened.entries()) if (status === 'fulfilled') sockets[index].close();
    if (isFree) return port;
  }
  throw new Error(`no port is free over UDP and TCP: ${PORTS} tried from ${FIRST_PORT}`);
}

/** Asks until an answer has no error. @returns whether there was one in time */
async function untilAnswered(port) {
  const socket = createSocket('udp4');
  const header = [0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
  const labels = NAME.split('.').flatMap((label) => [label.length, ...Buffer.from(label)]);
  const query = Buffer.from([...header, ...labels, 0, 0, 1, 0, 1]);
  let isAnswered = false;
  socket.on('error', () => {});
  socket.on('message', (answer) => {
    isAnswered ||= (answer[3] & 15) === 0;
  });
  const end = Date.now() + PATIENCE_MILLISECONDS;
  while (!isAnswered && Date.now() < end) {
    socket.send(query, port, ADDRESS);
    await new Promise((done) => setTimeout(done, 20));
  }
  socket.close();
  return isAnswered;
}
