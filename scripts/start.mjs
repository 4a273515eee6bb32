// `npm start`: builds what is needed and serves on 127.0.0.1:5353: the cluster of the kubeconfig file or of the pod
// that this runs in, else the bundled example.
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
const root = fileURLToPath(new URL('..', import.meta.url));
const entry = join(root, 'dist', 'portolan.js');

const newestChange = (folder) =>
  Math.max(
    ...readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => statSync(join(file.parentPath, file.name)).mtimeMs),
  );

if (!existsSync(entry) || statSync(entry).mtimeMs < newestChange(join(root, 'src'))) {
  console.log('Building dist/ ...');
  const { status } = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

const kubeconfigs = (process.env.KUBECONFIG || join(homedir(), '.kube', 'config')).split(delimiter);
const hasCluster =
  Boolean(process.env.KUBERNETES_SERVICE_HOST) || kubeconfigs.some((file) => existsSync(file));
const given = process.argv.slice(2).join(' ');
const namesObjects = /--(manifests|example|kubecfg-file|kube-master-url)\b/.test(given);

// Other programs like these ports too (5353 is that of multicast DNS): the next free one will do.
const isFree = (port, open) =>
  new Promise((resolve) => {
    const socket = open();
    socket.once('error', () => resolve(false));
    socket.once('listening', () => socket.close(() => resolve(true)));
    if ('bind' in socket) socket.bind(port, ADDRESS);
    else socket.listen(port, ADDRESS);
  });
const firstFree = async (port, open) => ((await isFree(port, open)) ? port : firstFree(port + 1, open));
const chosen = /--dns-port[ =](\d+)/.exec(given)?.[1];
const port = chosen ?? (await firstFree(PORT, () => createSocket('udp4')));
const healthPort = await firstFree(HEALTH_PORT, createServer);

const flags = [
  `--dns-bind-address=${ADDRESS}`,
  `--dns-port=${port}`,
  `--healthz-port=${ADDRESS}:${healthPort}`,
];
flags.push('--lameduck=0s');
if (!hasCluster && !namesObjects) {
  console.log('No kubeconfig file found: serving the example cluster of examples/cluster.');
  flags.push('--example');
}
const name = hasCluster || namesObjects ? 'kubernetes.default' : 'cart.shop';
console.log(`Try:  dig @${ADDRESS} -p ${port} ${name}.svc.cluster.local\n`);

process.argv.splice(2, 0, 'serve', ...flags);
await import(entry);
