/**
 * The API server double as a process of its own.
 *
 * It prints one line of JSON with its `url` and that of its `control`, and ends with its standard input.
 *
 *     main --services 1000 --endpoints 2 --watch-list --port 0 --control-port 0 --tls --objects FILE --serve GROUP/VERSION/PLURAL
 *
 * Node runs it after esbuild has bundled it: esbuild --bundle --platform=node --format=esm test/api-server/main.ts
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { ApiServerDouble } from './api-server.ts';
import { servedByDefault } from './catalog.ts';
import { startControl } from './control.ts';
import { generateCluster } from './generate.ts';
import type { KubernetesObject } from './object-store.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    'control-port': { type: 'string', default: '0' },
    services: { type: 'string', default: '0' },
    endpoints: { type: 'string', default: '0' },
    namespaces: { type: 'string', default: '10' },
    'watch-list': { type: 'boolean', default: false },
    'bookmark-every': { type: 'string', default: '60000' },
    tls: { type: 'boolean', default: false },
    objects: { type: 'string' },
    // Besides what is served by default.
    serve: { type: 'string', multiple: true, default: [] },
  },
});

const double = await ApiServerDouble.start({
  port: Number(values.port),
  tls: values.tls ? 'mutual' : 'none',
  watchList: values['watch-list'],
  serves: [...servedByDefault, ...values.serve],
  bookmarkEvery: Number(values['bookmark-every']),
  objects: values.objects === undefined ? [] : readObjects(values.objects),
});
const size = {
  services: Number(values.services),
  endpointsPerService: Number(values.endpoints),
  namespaces: Number(values.namespaces),
};
if (size.services > 0) for (const object of generateCluster(size)) double.store.place(object);
const control = await startControl(double, Number(values['control-port']));
const address = control.address();
const controlPort = typeof address === 'object' && address !== null ? address.port : 0;
process.stdout.write(`${JSON.stringify({ url: double.url, control: `http://127.0.0.1:${controlPort}` })}\n`);

process.stdin.on('end', () => void end()).resume();

/** Not by `process.exit()`, which may hang (see packages/cli/src/portolan.ts). */
async function end(): Promise<void> {
  control.close();
  control.closeAllConnections();
  await double.stop();
}

function readObjects(file: string): KubernetesObject[] {
  return parseAllDocuments(readFileSync(file, 'utf8'))
    .map((document): unknown => document.toJS())
    .filter((object) => object !== null) as KubernetesObject[];
}
