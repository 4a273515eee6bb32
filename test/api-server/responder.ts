/**
 * Writes one response, with the fault of its request: pieces, silence, resets.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Fault } from './faults.ts';
import type { Refusal } from './status.ts';

const JSON_HEADERS = { 'cache-control': 'no-cache, private', 'content-type': 'application/json' };

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

export class Responder {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #fault: Fault | undefined;
  readonly #isFrozen: () => boolean;
  #written = 0;
  #stopped = false;
  #queue: Promise<void> | undefined;

  /** `isFrozen` says whether this connection has gone silent. */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    fault: Fault | undefined,
    isFrozen: () => boolean,
  ) {
    this.#request = request;
    this.#response = response;
    this.#fault = fault;
    this.#isFrozen = isFrozen;
    response.on('error', () => {});
  }

  onClose(run: () => void): void {
    this.#response.once('close', run);
  }

  start(status: number, headers: Readonly<Record<string, string>> = {}): void {
    if (this.#isFrozen()) return;
    this.#response.writeHead(status, { ...JSON_HEADERS, ...headers });
    this.#response.flushHeaders();
    if (this.#fault?.kind === 'prefix') this.#response.write(this.#fault.text);
  }

  refuse(refusal: Refusal): void {
    this.sendJson(refusal.status, JSON.stringify(refusal.body), refusal.headers);
  }

  sendProtobuf(octets: Buffer): void {
    this.start(200, { 'content-type': PROTOBUF });
    this.write(octets);
    this.end();
  }

  sendJson(status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
    this.start(status, headers);
    this.write(`${text}\n`);
    this.end();
  }

  /** Whether the client asked for Protocol Buffers of the whole object. */
  get acceptsProtobuf(): boolean {
    return (this.#request.headers.accept ?? '').startsWith(`${PROTOBUF},`);
  }

  write(text: string | Buffer): void {
    if (this.#stopped || this.#isFrozen()) return;
    if (this.#fault?.kind === 'pieces') this.#enqueue(asBuffer(text), this.#fault.size, this.#fault.pause);
    else if (this.#fault !== undefined && 'afterBytes' in this.#fault) {
      this.#writeUntil(asBuffer(text), this.#fault.afterBytes);
    } else this.#response.write(text);
  }

  end(): void {
    if (this.#stopped || this.#isFrozen()) return;
    if (this.#queue === undefined) this.#response.end();
    else this.#queue.then(() => this.#response.end());
  }

  /** Ends the connection with a TCP reset. */
  reset(): void {
    this.#stopped = true;
    this.#request.socket.resetAndDestroy();
  }

  #writeUntil(bytes: Buffer, limit: number): void {
    const part = bytes.subarray(0, limit - this.#written);
    this.#written += part.length;
    const last = this.#written >= limit;
    if (last) this.#stopped = true;
    // The part must be on its way before the reset, or the client would see a reset without it.
    this.#response.write(part, () => {
      if (last && this.#fault?.kind === 'reset') this.reset();
      else if (last && this.#fault?.kind === 'end') this.#response.end();
    });
  }

  #enqueue(bytes: Buffer, size: number, pause: number | undefined): void {
    this.#queue = (this.#queue ?? Promise.resolve()).then(async () => {
      for (let start = 0; start < bytes.length; start += size) {
        if (this.#response.destroyed) return;
        this.#response.write(bytes.subarray(start, start + size));
        await new Promise((resolve) =>
          pause === undefined ? setImmediate(resolve) : setTimeout(resolve, pause),
        );
      }
    });
  }
}

function asBuffer(text: string | Buffer): Buffer {
  return typeof text === 'string' ? Buffer.from(text) : text;
}
