/**
 * A double of the Kubernetes API server: real HTTP (or HTTPS) over objects in memory, with any fault on request.
 *
 * It behaves as recorded in `transcripts/`. Tests and benchmarks change its objects through `put` and `delete`, or over the
 * network like any client.
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { type Clock, systemClock } from '@portolan/kernel/base/clock.ts';
import { encodeBody } from '@portolan/kubernetes/testing/protobuf-encoding.ts';
import { type Access, identify, mayDo } from './access.ts';
import { findByKind, findByPlural, servedByDefault } from './catalog.ts';
import { describePath } from './discovery.ts';
import { type Fault, Faults } from './faults.ts';
import { answerList, expireToken } from './list.ts';
import { type KubernetesObject, ObjectStore, type StoredObject } from './object-store.ts';
import { Responder } from './responder.ts';
import { describeScale } from './scale.ts';
import { expiredContinue, forbidden, notFound, notServed, statusBody, unauthorized } from './status.ts';
import { formatApiVersion, narrow, readTarget, readVerb, type Target, type Verb } from './target.ts';
import { readTlsFixture, type TlsMode } from './tls-fixture.ts';
import { OpenWatch, refuseWatch, type WatchSettings } from './watch.ts';
import { answerWrite } from './write.ts';

export interface ApiServerOptions extends Partial<WatchSettings> {
  readonly objects?: readonly KubernetesObject[];
  /** 0, the default, takes a free one. */
  readonly port?: number;
  readonly tls?: TlsMode;
  readonly access?: Access;
  /** `v1/services`, `discovery.k8s.io/v1/endpointslices`... */
  readonly serves?: readonly string[];
  readonly firstResourceVersion?: number;
  /** Of Kubernetes. Default: 1.20.2, as recorded. */
  readonly release?: string;
}

/** One request as it arrived. Its headers are kept, credentials included: this is a test's own server. */
export interface RecordedRequest {
  readonly verb: Verb | 'other';
  readonly plural: string;
  /** What RBAC looks at. Undefined for what is no resource, such as `/version`. */
  readonly target: Target | undefined;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly user: string | undefined;
  readonly status: 'allowed' | 401 | 403 | 404;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
}

const MAX_ENCODED = 16;

export class ApiServerDouble {
  readonly faults = new Faults();
  readonly requests: RecordedRequest[] = [];
  readonly watches = new Set<OpenWatch>();
  /** The port that the last request came from. */
  lastClientPort = 0;
  store: ObjectStore;
  access: Access;
  serves: readonly string[];
  readonly #settings: { -readonly [Field in keyof WatchSettings]: WatchSettings[Field] };
  readonly #tls: TlsMode;
  readonly #release: string;
  readonly #sockets = new Set<Socket>();
  /** Lists in Protocol Buffers by the version of the store and the request. */
  readonly #encoded = new Map<string, Buffer>();
  readonly #frozen = new WeakSet<Socket>();
  #isFrozen = false;
  #server: Server | undefined;
  #port: number;

  private constructor(options: ApiServerOptions) {
    this.access = options.access ?? {};
    this.serves = options.serves ?? servedByDefault;
    this.#tls = options.tls ?? 'none';
    this.#port = options.port ?? 0;
    this.#release = options.release ?? '1.20.2';
    this.#settings = {
      clock: options.clock ?? systemClock,
      bookmarkEvery: options.bookmarkEvery ?? 60_000,
      watchLag: options.watchLag ?? 0,
      protobuf: options.protobuf ?? false,
      watchList: options.watchList ?? false,
      afterExpired: options.afterExpired ?? 'stays-open',
    };
    this.store = fill(options.objects ?? [], options.firstResourceVersion ?? 1000);
  }

  /** Listens on 127.0.0.1. */
  static async start(options: ApiServerOptions = {}): Promise<ApiServerDouble> {
    const double = new ApiServerDouble(options);
    await double.listen();
    return double;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `${this.#tls === 'none' ? 'http' : 'https'}://127.0.0.1:${this.#port}`;
  }

  get clock(): Clock {
    return this.#settings.clock;
  }

  /** Whether `sendInitialEvents` is known from now on. */
  set watchList(known: boolean) {
    this.#settings.watchList = known;
  }

  put(object: KubernetesObject): StoredObject {
    return this.store.put(object);
  }

  /** @returns whether there was such an object. */
  delete(kind: string, name: string, namespace = ''): boolean {
    const key = namespace === '' ? name : `${namespace}/${name}`;
    return this.store.delete(findByKind(kind).plural, key) !== undefined;
  }

  /** Forgets the history: watches from older versions, and continue tokens, are expired. */
  compact(): void {
    this.store.compact();
  }

  /** Sends a bookmark on all watches now. */
  bookmark(): void {
    for (const watch of this.watches) watch.bookmark();
  }

  endWatches(): void {
    for (const watch of [...this.watches]) watch.end();
  }

  resetWatches(): void {
    for (const watch of [...this.watches]) watch.reset();
  }

  /** All connections that stand go silent without being closed, as behind a dead network. New ones work. */
  freezeConnections(): void {
    for (const socket of this.#sockets) this.#frozen.add(socket);
  }

  /** Accepts connections and requests, and answers nothing, until `thaw`. What was held back is lost. */
  freeze(): void {
    this.freezeConnections();
    this.#isFrozen = true;
  }

  thaw(): void {
    this.#isFrozen = false;
  }

  /** Refuses new connections; those that stand are kept. `listen` accepts them again. */
  refuseConnections(): void {
    this.#server?.close();
  }

  /** Has other objects and another history from now on, as after a restore. Watches stay open and silent. */
  replaceStore(objects: readonly KubernetesObject[], firstResourceVersion: number): void {
    for (const watch of this.watches) watch.close();
    this.#encoded.clear();
    this.store = fill(objects, firstResourceVersion);
  }

  /** Listens again on the same port, after `stop`. With `objects` it has those and no history. */
  async restart(objects?: readonly KubernetesObject[], firstResourceVersion = 1000): Promise<void> {
    await this.stop();
    this.#encoded.clear();
    if (objects !== undefined) this.store = fill(objects, firstResourceVersion);
    await this.listen();
  }

  async listen(): Promise<void> {
    const handle = (request: IncomingMessage, response: ServerResponse) => this.#handle(request, response);
    const server =
      this.#tls === 'none' ? createServer(handle) : createTlsServer(readTlsFixture(this.#tls), handle);
    server.keepAliveTimeout = 60_000;
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      if (this.#isFrozen) this.#frozen.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, '127.0.0.1', resolve);
    });
    const address = server.address();
    if (typeof address === 'object' && address !== null) this.#port = address.port;
  }

  /** Cuts all connections and stops listening. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    for (const watch of [...this.watches]) watch.close();
    this.watches.clear();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'http://double');
    const target = readTarget(url.pathname);
    const verb = target === undefined ? undefined : readVerb(request.method ?? '', target, url.searchParams);
    const isFrozen = () => this.#frozen.has(request.socket);
    if (isFrozen()) return;
    if (target === undefined || verb === undefined) {
      const responder = new Responder(request, response, undefined, isFrozen);
      this.#record(request, 'other', undefined, url, 'anyone', 'allowed');
      this.#answerOther(url.pathname, responder);
      return;
    }
    const fault = this.faults.take(verb, target, url.searchParams);
    const responder = new Responder(request, response, fault, isFrozen);
    if (!this.#admit(request, responder, url, target, verb)) return;
    if (fault !== undefined && obey(fault, responder, url)) return;
    this.#answer(request, responder, url, target, verb);
  }

  #admit(request: IncomingMessage, responder: Responder, url: URL, target: Target, verb: Verb): boolean {
    const user = identify(this.access, request);
    const narrowed = narrow(target, url.searchParams);
    const allowed = user !== undefined && mayDo(this.access, user, verb, narrowed);
    const served = this.serves.includes(`${formatApiVersion(target)}/${target.plural}`);
    const status = user === undefined ? 401 : !allowed ? 403 : served ? 'allowed' : 404;
    this.#record(request, verb, narrowed, url, user, status);
    if (status === 401) responder.refuse(unauthorized());
    else if (status === 403) responder.refuse(forbidden(user ?? '', verb, narrowed));
    else if (status === 404) responder.refuse(notServed());
    return status === 'allowed';
  }

  #answer(request: IncomingMessage, responder: Responder, url: URL, target: Target, verb: Verb): void {
    const entry = findByPlural(target.plural);
    if (entry === undefined) responder.refuse(notServed());
    else if (verb === 'watch') this.#watch(responder, url, target);
    else if (verb === 'list') {
      const known = this.#encoded.get(`${this.store.version} ${request.url}`);
      if (known !== undefined && this.#settings.protobuf && responder.acceptsProtobuf) {
        responder.sendProtobuf(known);
        return;
      }
      const answer = answerList(this.store, entry, target, url.searchParams);
      if ('refusal' in answer) responder.refuse(answer.refusal);
      else if (this.#settings.protobuf && responder.acceptsProtobuf)
        responder.sendProtobuf(this.#encode(request, `${entry.kind}List`, answer.text));
      else responder.sendJson(200, answer.text, deprecation(target));
    } else if (verb === 'get') {
      const key = target.namespace === '' ? target.name : `${target.namespace}/${target.name}`;
      const object = this.store.get(target.plural, key);
      if (object === undefined) responder.refuse(notFound(target));
      else if (target.subresource === 'scale') responder.sendJson(200, describeScale(object));
      else responder.sendJson(200, `${identity(entry.kind, target)}${object.text.slice(1)}`);
    } else answerWrite(this.store, entry, target, verb, request, responder);
  }

  /** Encoding is slow: where many clients ask for the same list, as in a benchmark, it is done once. */
  #encode(request: IncomingMessage, kind: string, text: string): Buffer {
    const octets = encodeBody(kind, JSON.parse(text));
    if (this.#encoded.size >= MAX_ENCODED) this.#encoded.clear();
    this.#encoded.set(`${this.store.version} ${request.url}`, octets);
    return octets;
  }

  #watch(responder: Responder, url: URL, target: Target): void {
    const refusal = refuseWatch(url.searchParams, this.#settings);
    const entry = findByPlural(target.plural);
    if (refusal !== undefined || entry === undefined) {
      responder.refuse(refusal ?? notServed());
      return;
    }
    const watch = new OpenWatch(this.store, entry, target, url.searchParams, responder, this.#settings);
    this.watches.add(watch);
    responder.onClose(() => {
      watch.close();
      this.watches.delete(watch);
    });
  }

  #answerOther(path: string, responder: Responder): void {
    const body = describePath(path, this.serves, this.#release);
    if (['/healthz', '/livez', '/readyz'].includes(path)) responder.sendJson(200, '"ok"');
    else if (body === undefined) responder.refuse(notServed());
    else responder.sendJson(200, JSON.stringify(body));
  }

  #record(
    request: IncomingMessage,
    verb: RecordedRequest['verb'],
    target: Target | undefined,
    url: URL,
    user: string | undefined,
    status: RecordedRequest['status'],
  ): void {
    const { headers, rawHeaders } = request;
    this.lastClientPort = request.socket.remotePort ?? 0;
    const { pathname: path, searchParams: query } = url;
    const plural = target?.plural ?? '';
    this.requests.push({ verb, plural, target, path, query, user, status, headers, rawHeaders });
    if (this.requests.length > 10_000) this.requests.splice(0, 5_000);
  }
}

function fill(objects: readonly KubernetesObject[], firstVersion: number): ObjectStore {
  const store = new ObjectStore(firstVersion);
  for (const object of objects) store.place(object);
  return store;
}

/** @returns whether the fault has answered the request. */
function obey(fault: Fault, responder: Responder, url: URL): boolean {
  if (fault.kind === 'stall') return true;
  if (fault.kind === 'expire-continue') {
    responder.refuse(expiredContinue(expireToken(url.searchParams.get('continue') ?? '')));
    return true;
  }
  if (fault.kind !== 'status') return false;
  const message = fault.message ?? `refused with ${fault.status} on order`;
  const headers = fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter };
  responder.refuse({ status: fault.status, headers, body: statusBody({ code: fault.status, message }) });
  return true;
}

function identity(kind: string, target: Target): string {
  return `{"kind":"${kind}","apiVersion":"${formatApiVersion(target)}",`;
}

function deprecation(target: Target): Record<string, string> {
  if (formatApiVersion(target) !== 'discovery.k8s.io/v1beta1') return {};
  const warning = '299 - "discovery.k8s.io/v1beta1 EndpointSlice is deprecated in v1.22+"';
  return { warning };
}
