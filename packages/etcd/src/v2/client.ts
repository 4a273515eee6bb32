/**
 * A client of etcd's API version 2: keys in folders, over HTTP with JSON. etcd 3.4 and 3.5 serve it with `--enable-v2`, later
 * versions do not have it.
 *
 * As the client of version 3, it uses one member at a time, and the next one after a failure.
 */
import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { EndpointRotation, type EtcdEndpoint } from '../source/client/endpoints.ts';
import { EtcdError, toEtcdError } from '../source/client/etcd-error.ts';
import { type EtcdSettings, readTlsFiles } from '../source/client/settings.ts';
import { type FolderNode, readErrorReply, readNodes, readWatchReply, type V2Event } from './messages.ts';

/** All keys below a folder, each with its full path. */
export interface FolderContents {
  /** The index of the store at the time of the read. */
  readonly index: number;
  readonly nodes: readonly FolderNode[];
}

/** Conditions for writing or removing a key; all must hold. */
export interface KeyConditions {
  /** This change was the key's last one. */
  readonly modifiedIndex?: number;
  /** The key has this value. */
  readonly value?: string;
}

export interface SetOptions extends KeyConditions {
  /** Seconds until the key expires. Default: never. */
  readonly ttl?: number;
  /** Whether the key must exist, or must not. */
  readonly exists?: boolean;
  /** Restarts the key's TTL and keeps its value, without notifying watchers. */
  readonly isRefresh?: boolean;
}

interface V2Reply {
  readonly status: number;
  readonly index: number;
  readonly cluster: string | undefined;
  readonly body: string;
}

interface Call {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly form?: URLSearchParams;
  /** Timeout of the whole reply in milliseconds. */
  readonly timeout: number;
  /** Called with the index when the head of the reply has arrived. */
  readonly onHead?: (index: number) => void;
}

/** The connections to a member. All calls share one, also those that wait until its files are read. */
interface HeldAgent {
  readonly secure: boolean;
  readonly opening: Promise<HttpAgent>;
}

const TIMEOUT = 5_000;
/** Timeout of reading a folder, which comes in one reply. */
const READ_TIMEOUT = 30_000;
/** A watch that is silent for this long is restarted, in case its connection or its member is dead. */
const WATCH_TIMEOUT = 30_000;
const MAX_BODY = 256 * 1024 * 1024;
const ERROR = {
  KEY_NOT_FOUND: 100,
  TEST_FAILED: 101,
  KEY_EXISTS: 105,
  NOT_EMPTY: 108,
  UNAUTHORIZED: 110,
  CLEARED: 401,
} as const;
const V2_IS_OFF = 'the API version 2 of etcd is off; start etcd with --enable-v2, or use version 3';

/** @deprecated Use `EtcdClient`, for version 3: etcd 3.6 has no version 2. */
export class EtcdV2Client {
  readonly #settings: EtcdSettings;
  readonly #clock: Clock;
  readonly #endpoints: EndpointRotation;
  readonly #calls = new Set<ClientRequest>();
  #agent: HeldAgent | undefined;
  #isClosed = false;
  #cluster: string | undefined;

  constructor(settings: EtcdSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#endpoints = new EndpointRotation(settings.endpoints);
  }

  get endpoint(): string {
    return this.#endpoints.current.text;
  }

  /** The cluster ID, once a member has answered. */
  get cluster(): string | undefined {
    return this.#cluster;
  }

  /** @param folder a path of keys. A folder that does not exist is empty. @throws EtcdError, as all calls */
  async read(folder: string): Promise<FolderContents> {
    const path = `${toPath(folder)}?recursive=true`;
    const reply = await this.#ask({ method: 'GET', path, timeout: READ_TIMEOUT });
    if (reply.status === 200) return { index: reply.index, nodes: readNodes(reply.body) };
    this.#check(reply, [ERROR.KEY_NOT_FOUND]);
    return { index: reply.index, nodes: [] };
  }

  /** @returns false if a condition did not hold */
  async set(key: string, value: string, options: SetOptions = {}): Promise<boolean> {
    const { ttl, exists, isRefresh = false } = options;
    const form = new URLSearchParams(isRefresh ? { refresh: 'true' } : { value });
    if (ttl !== undefined) form.set('ttl', String(ttl));
    if (isRefresh || exists !== undefined) form.set('prevExist', String(isRefresh || exists));
    addConditions(form, options);
    const reply = await this.#ask({ method: 'PUT', path: toPath(key), form, timeout: TIMEOUT });
    if (reply.status === 200 || reply.status === 201) return true;
    this.#check(reply, [ERROR.KEY_NOT_FOUND, ERROR.TEST_FAILED, ERROR.KEY_EXISTS]);
    return false;
  }

  /** @returns false if a condition did not hold */
  async remove(key: string, conditions: KeyConditions = {}): Promise<boolean> {
    const query = new URLSearchParams();
    addConditions(query, conditions);
    const path = query.size === 0 ? toPath(key) : `${toPath(key)}?${query}`;
    const reply = await this.#ask({ method: 'DELETE', path, timeout: TIMEOUT });
    if (reply.status === 200) return true;
    this.#check(reply, [ERROR.KEY_NOT_FOUND, ERROR.TEST_FAILED]);
    return false;
  }

  /** @returns false if the folder is not empty or does not exist */
  async removeFolder(folder: string): Promise<boolean> {
    const reply = await this.#ask({
      method: 'DELETE',
      path: `${toPath(folder)}?dir=true`,
      timeout: TIMEOUT,
    });
    if (reply.status === 200) return true;
    this.#check(reply, [ERROR.KEY_NOT_FOUND, ERROR.NOT_EMPTY]);
    return false;
  }

  /**
   * Waits for the next change below a folder.
   *
   * @param index the index of the first change to return
   * @param onWaiting called when the member has started to wait
   * @returns the change; or, if there was none for a while, the index to wait from next
   */
  async waitForChange(
    folder: string,
    index: number,
    onWaiting: () => void = () => {},
  ): Promise<V2Event | { readonly kind: 'none'; readonly next: number }> {
    const path = `${toPath(folder)}?wait=true&recursive=true&waitIndex=${index}`;
    let reached = index - 1;
    const none = () => ({ kind: 'none', next: Math.max(index, reached + 1) }) as const;
    const call: Call = {
      method: 'GET',
      path,
      timeout: WATCH_TIMEOUT,
      onHead: (current) => {
        reached = current;
        onWaiting();
      },
    };
    try {
      const reply = await this.#ask(call);
      if (reply.status !== 200) this.#check(reply, []);
      // A server that stops ends a watch with an empty body.
      return reply.body.trim() === '' ? none() : readWatchReply(reply.body);
    } catch (error) {
      if (error instanceof SilenceError && reached >= index - 1) return none();
      throw error instanceof SilenceError ? new EtcdError('unavailable', error.message) : error;
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const call of this.#calls) call.destroy();
    this.#dropAgent();
  }

  /** @param allowed error codes that the caller handles. @throws EtcdError for all others */
  #check({ status, body }: V2Reply, allowed: readonly number[]): void {
    const error = readErrorReply(body);
    const text = `${this.endpoint}: ${error?.message ?? `HTTP ${status}`}`;
    if (error === undefined && status === 404)
      throw new EtcdError('refused', `${this.endpoint}: ${V2_IS_OFF}`);
    if (error !== undefined && allowed.includes(error.code)) return;
    if (error?.code === ERROR.CLEARED) throw new EtcdError('compacted', text);
    if (status === 401 || error?.code === ERROR.UNAUTHORIZED) throw new EtcdError('unauthenticated', text);
    if (status === 403) throw new EtcdError('denied', text);
    if (status < 500) throw new EtcdError('refused', text);
    this.#endpoints.advance();
    throw new EtcdError('unavailable', text);
  }

  async #ask(call: Call): Promise<V2Reply> {
    this.#checkOpen();
    const endpoint = this.#endpoints.current;
    const held = this.#holdAgent(endpoint);
    try {
      const agent = await held.opening;
      this.#checkOpen();
      const reply = await this.#send(endpoint, agent, call);
      this.#cluster = reply.cluster ?? this.#cluster;
      return reply;
    } catch (error) {
      if (error instanceof SilenceError && call.onHead !== undefined) throw error;
      if (endpoint === this.#endpoints.current) this.#leaveEndpoint(held);
      const { message } = toEtcdError(error);
      throw new EtcdError(this.#isClosed ? 'closed' : 'unavailable', `${endpoint.text}: ${message}`);
    }
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new EtcdError('closed', 'the client of etcd is closed');
  }

  async #send(endpoint: EtcdEndpoint, agent: HttpAgent, call: Call): Promise<V2Reply> {
    const { credentials } = this.#settings;
    const { host, port, secure } = endpoint;
    const auth = credentials && `${credentials.username}:${credentials.password}`;
    const headers = call.form && { 'content-type': 'application/x-www-form-urlencoded' };
    const { method, path, timeout } = call;
    const request = (secure ? requestHttps : requestHttp)({
      host,
      port,
      agent,
      method,
      path,
      ...(auth && { auth }),
      ...(headers && { headers }),
    });
    this.#calls.add(request);
    const timer = this.#clock.after(timeout, () => request.destroy(new SilenceError(timeout)));
    try {
      return await exchange(request, call);
    } finally {
      timer.cancel();
      this.#calls.delete(request);
    }
  }

  /** Certificates are read again after each failure. */
  #holdAgent({ secure }: EtcdEndpoint): HeldAgent {
    if (this.#agent?.secure === secure) return this.#agent;
    this.#dropAgent();
    const held = { secure, opening: openAgent(secure, this.#settings) };
    this.#agent = held;
    held.opening.catch(() => {
      if (this.#agent === held) this.#agent = undefined;
    });
    return held;
  }

  #dropAgent(): void {
    this.#agent?.opening.then(
      (agent) => agent.destroy(),
      () => {},
    );
    this.#agent = undefined;
  }

  /** @param held the agent of the call that failed. A later one serves calls that have not failed. */
  #leaveEndpoint(held: HeldAgent): void {
    if (this.#agent === held) this.#dropAgent();
    this.#endpoints.advance();
  }
}

async function openAgent(secure: boolean, { tls = {} }: EtcdSettings): Promise<HttpAgent> {
  if (!secure) return new HttpAgent({ keepAlive: true });
  const { certificate, key, authority } = await readTlsFiles(tls);
  return new HttpsAgent({
    keepAlive: true,
    ...(certificate && { cert: certificate }),
    ...(key && { key }),
    ...(authority && { ca: authority }),
  });
}

class SilenceError extends Error {
  override readonly name = 'SilenceError';

  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds} ms`);
  }
}

function exchange(request: ClientRequest, { form, onHead }: Call): Promise<V2Reply> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response: IncomingMessage) => {
      const index = Number(response.headers['x-etcd-index'] ?? 0);
      onHead?.(index);
      const pieces: Buffer[] = [];
      let length = 0;
      response.on('data', (piece: Buffer) => {
        length += piece.length;
        pieces.push(piece);
        if (length > MAX_BODY) request.destroy(new Error(`the reply has more than ${MAX_BODY} octets`));
      });
      response.on('error', reject);
      response.on('end', () => {
        const body = Buffer.concat(pieces).toString('utf8');
        const cluster = String(response.headers['x-etcd-cluster-id'] ?? '') || undefined;
        resolve({ status: response.statusCode ?? 0, index, cluster, body });
      });
    });
    request.end(form?.toString());
  });
}

function addConditions(fields: URLSearchParams, { modifiedIndex, value }: KeyConditions): void {
  if (modifiedIndex !== undefined) fields.set('prevIndex', String(modifiedIndex));
  if (value !== undefined) fields.set('prevValue', value);
}

function toPath(key: string): string {
  const parts = key.split('/').filter((part) => part !== '');
  return `/v2/keys/${parts.map(encodeURIComponent).join('/')}`;
}
