// What servers list and watch while their functions are recorded: the API server of a cluster with one Service, and an etcd with one name.
import { once } from 'node:events';
import { createServer } from 'node:http';

const ADDRESS = '127.0.0.1';
/** A busy machine may take longer between two requests than the defaults allow, and the time of the client stands still. */
const PATIENT = { keepAliveTimeout: 300_000, headersTimeout: 300_000, requestTimeout: 300_000 };
/** Milliseconds between two looks. */
const INTERVAL = 20;
export const SERVICE = 'web.default.svc.cluster.local';

const metadata = { name: 'web', namespace: 'default' };
const ports = [{ name: 'http', port: 80, protocol: 'TCP' }];
const OBJECTS = {
  services: { metadata, spec: { clusterIP: '10.96.0.10', ports } },
  endpointslices: {
    metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.244.0.1'], conditions: {} }],
    ports,
  },
  namespaces: { metadata: { name: 'default' } },
};
const ETCD_NODE = {
  key: '/skydns/local/cluster/svc/default/web',
  value: '{"host":"10.96.0.10"}',
  createdIndex: 1,
};

export class ApiDouble {
  #server = createServer(PATIENT, (request, response) => this.#answer(request, response));
  #listed = new Set();
  #watches = new Map();
  #version = 1;

  async start() {
    this.#server.listen(0, ADDRESS);
    await once(this.#server, 'listening');
    return `http://${ADDRESS}:${this.#server.address().port}`;
  }

  /** Whether all that was listed is watched. */
  get #isWatched() {
    return this.#listed.size > 0 && [...this.#listed].every((path) => this.#watches.has(path));
  }

  async untilWatched() {
    while (!this.#isWatched && this.#server.listening)
      await new Promise((done) => setTimeout(done, INTERVAL));
  }

  /** Gives the Service another address, and takes its endpoint away, or gives it back. */
  change() {
    this.#version += 1;
    const resourceVersion = String(this.#version);
    const { services, endpointslices } = OBJECTS;
    const spec = { ...services.spec, clusterIP: `10.96.0.${this.#version}` };
    const endpoints = this.#version % 2 === 0 ? [] : endpointslices.endpoints;
    this.#tell('services', { ...services, metadata: { ...metadata, resourceVersion }, spec });
    this.#tell('endpointslices', {
      ...endpointslices,
      metadata: { ...endpointslices.metadata, resourceVersion },
      endpoints,
    });
  }

  #tell(kind, object) {
    for (const [path, response] of this.#watches)
      if (path.endsWith(`/${kind}`)) response.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(request, response) {
    const { pathname, searchParams } = new URL(request.url, 'http://cluster');
    if (pathname.startsWith('/v2/keys/')) this.#answerAsEtcd(pathname, searchParams, response);
    else this.#answerAsCluster(pathname, searchParams, response);
  }

  /** Lists are answered, watches stay open. */
  #answerAsCluster(path, words, response) {
    const object = OBJECTS[path.split('/').at(-1)];
    const isStream = words.has('sendInitialEvents');
    const code = isStream ? 422 : object === undefined ? 404 : 200;
    response.writeHead(code, { 'content-type': 'application/json' });
    if (code !== 200) response.end(JSON.stringify({ kind: 'Status', code, message: 'not here' }));
    else if (words.has('watch')) this.#keepOpen(path, response);
    else {
      this.#listed.add(path);
      response.end(JSON.stringify({ kind: 'List', metadata: { resourceVersion: '1' }, items: [object] }));
    }
  }

  #answerAsEtcd(path, words, response) {
    const isNamed = path === '/v2/keys/skydns';
    response.writeHead(isNamed ? 200 : 404, { 'content-type': 'application/json', 'x-etcd-index': '1' });
    if (!isNamed)
      response.end(JSON.stringify({ errorCode: 100, message: 'Key not found', cause: path, index: 1 }));
    else if (words.has('wait')) this.#keepOpen(path, response);
    else {
      this.#listed.add(path);
      response.end(
        JSON.stringify({ action: 'get', node: { key: '/skydns', dir: true, nodes: [ETCD_NODE] } }),
      );
    }
  }

  #keepOpen(path, response) {
    this.#watches.set(path, response);
    response.flushHeaders();
  }
}
