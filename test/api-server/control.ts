/**
 * Control of the double over HTTP, for tests and benchmarks in which it is a process of its own.
 *
 *     GET    /state                      versions, counts, watches, requests by verb and answer
 *     POST   /objects                    puts one object or a list of them
 *     DELETE /objects/KIND/[NAMESPACE/]NAME
 *     POST   /generate                   { services, endpointsPerService, namespaces }
 *     POST   /churn                      { perSecond, seconds, services, namespaces }; answered when it is over
 *     POST   /faults                     a rule of `faults.ts`
 *     POST   /access                     tokens and rules of `access.ts`
 *     POST   /compact /bookmark /end-watches /reset-watches /freeze /stop /start
 *     POST   /restart                    back with the objects of the body, and no history
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Access } from './access.ts';
import type { ApiServerDouble } from './api-server.ts';
import { catalog } from './catalog.ts';
import { Churn, type ChurnOptions } from './churn.ts';
import type { FaultRule } from './faults.ts';
import { type ClusterSize, generateCluster } from './generate.ts';
import type { KubernetesObject } from './object-store.ts';

type Order = (double: ApiServerDouble, body: unknown) => unknown;

/** Bodies are what our own tests and benchmarks send, so their shape is taken on trust. */
const orders: Readonly<Record<string, Order>> = {
  'GET /state': describe,
  'POST /objects': (double, body) => {
    const objects = Array.isArray(body) ? body : [body];
    return objects.map((object: KubernetesObject) => double.put(object).version).at(-1);
  },
  'POST /generate': (double, body) => {
    for (const object of generateCluster(body as ClusterSize)) double.store.place(object);
    return describe(double);
  },
  'POST /churn': async (double, body) => {
    const churn = new Churn(double, body as ChurnOptions);
    await churn.done;
    return { sent: churn.sent };
  },
  'POST /faults': (double, body) => double.faults.add(body as FaultRule),
  'POST /access': (double, body) => {
    double.access = body as Access;
  },
  'POST /compact': (double) => double.compact(),
  'POST /bookmark': (double) => double.bookmark(),
  'POST /end-watches': (double) => double.endWatches(),
  'POST /reset-watches': (double) => double.resetWatches(),
  'POST /freeze': (double) => double.freezeConnections(),
  'POST /stop': (double) => double.stop(),
  'POST /start': (double) => double.listen(),
  'POST /restart': (double, body) => double.restart((body ?? []) as KubernetesObject[]),
};

/** @returns the server, listening on a free port of 127.0.0.1 */
export async function startControl(double: ApiServerDouble, port = 0): Promise<Server> {
  const server = createServer((request, response) => void handle(double, request, response));
  // A connection that is closed for being idle may be the one that the next order comes on.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return server;
}

async function handle(double: ApiServerDouble, request: IncomingMessage, response: ServerResponse) {
  try {
    const result = await obey(double, `${request.method} ${request.url}`, await readJson(request));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(result ?? null));
  } catch (error) {
    response.writeHead(400).end(String(error));
  }
}

function obey(double: ApiServerDouble, line: string, body: unknown): unknown {
  const [, kind, path] = /^DELETE \/objects\/([^/]+)\/(.+)$/.exec(line) ?? [];
  if (kind !== undefined && path !== undefined) {
    const [name = '', namespace = ''] = path.split('/').toReversed();
    return double.delete(kind, name, namespace);
  }
  const order = orders[line];
  if (order === undefined) throw new Error(`no such order: ${line}`);
  return order(double, body);
}

function describe(double: ApiServerDouble): unknown {
  const requests: Record<string, number> = {};
  for (const { verb, plural, status } of double.requests) {
    const name = `${verb} ${plural} ${status}`;
    requests[name] = (requests[name] ?? 0) + 1;
  }
  const objects = Object.fromEntries(catalog.map(({ plural }) => [plural, double.store.list(plural).length]));
  return { version: double.store.version, watches: double.watches.size, objects, requests };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return text === '' ? undefined : JSON.parse(text);
}
