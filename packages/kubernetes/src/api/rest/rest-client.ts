/**
 * Reads, creates, replaces and applies single objects of the API server. Uses JSON: they are few and of any kind.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { asText, type JsonRecord, parseRecord } from '../../objects/trim/fields.ts';
import type { ApiResponse, Connection, RequestOptions } from '../connection/types.ts';

/** The request was refused or not answered. */
export class RestError extends Error {
  override readonly name = 'RestError';
  /** The status of the refusal; undefined without an answer. */
  readonly status: number | undefined;

  constructor(message: string, status: number | undefined, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

export interface ApplyOptions {
  /** The name under which the server notes whose fields these are. */
  readonly manager: string;
  /** Whether the server checks and answers only. */
  readonly isDryRun: boolean;
}

/** Milliseconds for a connection, for the head of an answer, and for all of it. */
const CONNECT = 3_000;
const ANSWER = 10_000;
const WHOLE = 20_000;
/** Octets: an object may be 1.5 MB in etcd, and more as JSON. */
const MAX_OBJECT = 16 * 1024 * 1024;
/** Characters of a refusal's message that are shown. */
const MAX_WORDS = 500;

export class RestClient {
  readonly #connection: Connection;
  readonly #clock: Clock;
  /** Controllers of the requests under way. */
  readonly #underWay = new Set<AbortController>();

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** @throws RestError, here and below */
  get(path: string): Promise<JsonRecord> {
    return this.#send(path, { method: 'GET' });
  }

  /** @param path of the collection */
  create(path: string, object: JsonRecord): Promise<JsonRecord> {
    return this.#send(path, withBody('POST', object));
  }

  /** If `metadata.resourceVersion` is set, the server refuses it (409) if the object has changed since it was read. */
  replace(path: string, object: JsonRecord): Promise<JsonRecord> {
    return this.#send(path, withBody('PUT', object));
  }

  /**
   * Server-side apply: sets the given fields, takes them from other managers, and removes fields that the manager applied before and
   * does not give any more.
   */
  apply(path: string, object: JsonRecord, { manager, isDryRun }: ApplyOptions): Promise<JsonRecord> {
    const query = new URLSearchParams({
      fieldManager: manager,
      force: 'true',
      ...(isDryRun && { dryRun: 'All' }),
    });
    // JSON is YAML.
    return this.#send(`${path}?${query}`, withBody('PATCH', object, 'application/apply-patch+yaml'));
  }

  /** Ends the requests under way with an error. */
  abort(): void {
    for (const request of this.#underWay) request.abort(new RestError('stopped', undefined));
  }

  async #send(path: string, options: RequestOptions): Promise<JsonRecord> {
    const request = new AbortController();
    const overdue = new RestError(`no whole answer within ${WHOLE / 1000} s`, undefined);
    const timer = this.#clock.after(WHOLE, () => request.abort(overdue));
    this.#underWay.add(request);
    const { signal } = request;
    try {
      return await this.#ask(path, { ...options, signal, connectTimeout: CONNECT, timeout: ANSWER });
    } catch (error) {
      const reason: unknown = signal.aborted ? signal.reason : error;
      if (reason instanceof RestError) throw reason;
      throw new RestError(describeError(reason), undefined, error);
    } finally {
      timer.cancel();
      this.#underWay.delete(request);
    }
  }

  async #ask(path: string, options: RequestOptions): Promise<JsonRecord> {
    let response = await this.#connection.request(path, options);
    if (response.status === 401) {
      response.discard();
      this.#connection.refreshCredentials();
      response = await this.#connection.request(path, options);
    }
    const text = await readText(response);
    const object = parseRecord(text);
    if (response.status >= 300)
      throw new RestError(readErrorMessage(response.status, object, text), response.status);
    if (object === undefined)
      throw new RestError(`the answer is no object: ${text.slice(0, MAX_WORDS)}`, undefined);
    return object;
  }
}

function withBody(
  method: 'POST' | 'PUT' | 'PATCH',
  object: JsonRecord,
  contentType = 'application/json',
): RequestOptions {
  return { method, body: JSON.stringify(object), headers: { 'content-type': contentType } };
}

async function readText(response: ApiResponse): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body) {
    length += piece.length;
    if (length > MAX_OBJECT) {
      response.discard();
      throw new RestError(`the answer is longer than allowed: ${MAX_OBJECT} octets`, undefined);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces, length).toString('utf8');
}

/** The server's message, as kubectl shows it. Some refusals are plain text. */
function readErrorMessage(status: number, object: JsonRecord | undefined, text: string): string {
  const said = asText(object?.['message']) ?? text.trim().replaceAll(/\s+/g, ' ');
  return said === '' ? `refused with status ${status}` : said.slice(0, MAX_WORDS);
}
