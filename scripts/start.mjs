// `npm start [-- FLAGS]`: builds what is needed and runs `portolan serve` on a free port of 127.0.0.1, from 5353 on. It serves the
// cluster of the kubeconfig file or of the pod that this runs in, else the bundled example. FLAGS replace these settings.
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ADDRESS = '127.0.0.1';
const PORT = 5353;
const HEALTH_PORT = 8081;
const DASHBOARD_PORT = 8091;
const root = fileURLToPath(new URL('..', import.meta.url));
const entry = join(root, 'dist', 'portolan.js');

const newestChange = (folder) =>
  Math.max(
    ...readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => statSync(join(file.parentPath, file.name)).mtimeMs),
  );

if (!existsSync(entry) || statSync(entry).mtimeMs < newestChange(join(root, 'packages'))) {
  console.error('Building dist/ ...');
  const { status } = spawnSync(process.execPath, ['scripts/build.mjs', '--no-code-caches'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) process.exit(status ?? 1);
}

const given = process.argv.slice(2);
/** The value of a flag, written in one argument or in two; true where none follows. */
const givenValue = (name) => {
  const at = given.findIndex((word) => word === `--${name}` || word.startsWith(`--${name}=`));
  if (at < 0) return undefined;
  return given[at].includes('=') ? given[at].slice(given[at].indexOf('=') + 1) : (given[at + 1] ?? true);
};
const isGiven = (...names) => names.some((name) => givenValue(name) !== undefined);

const kubeconfigs = (process.env.KUBECONFIG || join(homedir(), '.kube', 'config')).split(delimiter);
const hasCluster =
  Boolean(process.env.KUBERNETES_SERVICE_HOST) || kubeconfigs.some((file) => existsSync(file));
const namesObjects = isGiven('manifests', 'example', 'kubecfg-file', 'kube-master-url');

const isFree = (port, open) =>
  new Promise((resolve) => {
    const socket = open();
    socket.once('error', () => resolve(false));
    socket.once('listening', () => socket.close(() => resolve(true)));
    if ('bind' in socket) socket.bind(port, ADDRESS);
    else socket.listen(port, ADDRESS);
  });
// 5353 is the port of multicast DNS too, and often taken.
const firstFree = async (port, open) => ((await isFree(port, open)) ? port : firstFree(port + 1, open));

const SERVFAIL = 2;
/** A query for the address of a name. */
const writeQuery = (name) => {
  const labels = [...name.split('.'), ''].flatMap((label) => [label.length, ...Buffer.from(label)]);
  return Buffer.from([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...labels, 0, 1, 0, 1]);
};
/** Whether the server at this address knows a name, or that there is none: before it has listed the cluster, it does not. */
const isAnswered = (address, port, name) =>
  new Promise((resolve) => {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    const end = (isSo) => {
      clearTimeout(timer);
      socket.close();
      resolve(isSo);
    };
    const timer = setTimeout(() => end(false), 1000);
    socket.once('message', (response) => end((response[3] & 15) !== SERVFAIL));
    socket.once('error', () => end(false));
    socket.connect(port, address, (error) => (error ? end(false) : socket.send(writeQuery(name))));
  });
/** The last lines of the start: what to try, once the server answers. */
const sayNext = (name, address, port) => {
  const look = async () => {
    if (!(await isAnswered(address, Number(port), `${name}.svc.cluster.local`)))
      return void setTimeout(look, 100).unref();
    console.log(`\nTry:  dig @${address} -p ${port} ${name}.svc.cluster.local`);
    if (process.platform !== 'linux' || isGiven('control-socket')) return;
    const program = 'node dist/portolan.js';
    console.log(`Next, in another terminal:  ${program} explain ${name}   or:  ${program} tail`);
  };
  setTimeout(look, 100).unref();
};

const flags = [];
if (!given.some((word) => ['-h', '--help'].includes(word))) {
  if (!isGiven('dns-bind-address')) flags.push(`--dns-bind-address=${ADDRESS}`);
  if (!isGiven('dns-port')) flags.push(`--dns-port=${await firstFree(PORT, () => createSocket('udp4'))}`);
  if (!isGiven('healthz-port'))
    flags.push(`--healthz-port=${ADDRESS}:${await firstFree(HEALTH_PORT, createServer)}`);
  if (!isGiven('dashboard'))
    flags.push(`--dashboard=${ADDRESS}:${await firstFree(DASHBOARD_PORT, createServer)}`);
  if (!isGiven('lameduck')) flags.push('--lameduck=0s');
  if (!hasCluster && !namesObjects) {
    console.log('No kubeconfig file found: serving the example cluster of examples/cluster.');
    flags.push('--example');
  }
  const name = hasCluster || namesObjects ? 'kubernetes.default' : 'cart.shop';
  const port = givenValue('dns-port') ?? flags.find((flag) => flag.startsWith('--dns-port='))?.split('=')[1];
  const bound = givenValue('dns-bind-address') ?? ADDRESS;
  // Without its value a flag is an error, which the server reports.
  if (bound !== true && port !== true) sayNext(name, bound.split(',')[0], port);
}

process.argv.splice(2, 0, 'serve', ...flags);
await import(entry);
