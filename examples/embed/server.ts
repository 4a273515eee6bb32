// Serves a zone file and a cluster of manifests: node examples/embed/server.ts [PORT], with Node.js 22.18 or later.
import { fileURLToPath } from 'node:url';
import { createServer, parseKey, usePlugin } from '@portolan/kernel';
import { followManifests, useManifestCluster } from '@portolan/kubernetes/manifests/manifest-cluster.ts';
import { file } from '@portolan/plugins/file/plugin.ts';

const find = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export async function serve(port = 0) {
  const origin = parseKey('example.org');
  const zone = { origin, path: find('example.org.zone'), reload: 60_000, reloadByMtime: false };
  const server = await createServer({
    port,
    blocks: [
      { zones: ['example.org'], plugins: [usePlugin(file, { zones: [zone], fallthrough: [] })] },
      { zones: ['cluster.local'], plugins: [useManifestCluster('cluster.local')] },
    ],
  });
  const leave = await followManifests(server.engine, { folder: find('../cluster') });
  return { port: server.port, stop: () => [leave(), server.stop()] };
}

if (process.argv[1] === import.meta.filename) {
  const { port } = await serve(Number(process.argv[2] ?? 0));
  console.log(`dig @127.0.0.1 -p ${port} www.example.org cart.shop.svc.cluster.local`);
}
