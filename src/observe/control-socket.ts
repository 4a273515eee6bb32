/**
 * The control socket: a Unix socket that takes one order per connection, as a line, and replies with one line. Only the user of the
 * server may connect.
 */
import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Log } from '../base/log.ts';

/** Carries out an order. @returns the reply @throws Error whose message is the error reply */
export type OrderHandler = (words: readonly string[]) => Promise<string>;

export class ControlSocketError extends Error {
  override readonly name = 'ControlSocketError';

  constructor(path: string, reason: string) {
    super(`cannot listen on the control socket: ${path}: ${reason}. Choose another with --control-socket.`);
  }
}

const MAX_ORDER_CHARACTERS = 4_096;
const MAX_CONNECTIONS = 8;
const ORDER_TIMEOUT = 5_000;
/** Owner may read and write, which connecting requires. */
const OWNER_ONLY = 0o600;

export class ControlSocket {
  readonly #path: string;
  readonly #handle: OrderHandler;
  readonly #log: Log;
  readonly #server: Server;

  constructor(path: string, handle: OrderHandler, log: Log) {
    this.#path = path;
    this.#handle = handle;
    this.#log = log;
    this.#server = createServer((socket) => this.#serve(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** @throws ControlSocketError */
  async start(): Promise<void> {
    try {
      await this.#listen();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException; // Errors of `listen` are of this type.
      if (code !== 'EADDRINUSE') throw new ControlSocketError(this.#path, String(code));
      if (await isAnswering(this.#path)) throw new ControlSocketError(this.#path, 'another process uses it');
      // A killed process leaves its socket file.
      rmSync(this.#path);
      await this.#listen();
    }
    chmodSync(this.#path, OWNER_ONLY);
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#path, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  #serve(socket: Socket): void {
    let text = '';
    socket.setEncoding('utf8').setTimeout(ORDER_TIMEOUT, () => socket.destroy());
    socket.on('error', () => {});
    socket.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end >= 0) void this.#answer(socket, text.slice(0, end));
      else if (text.length > MAX_ORDER_CHARACTERS) socket.destroy();
    });
  }

  async #answer(socket: Socket, line: string): Promise<void> {
    socket.removeAllListeners('data').resume();
    try {
      const answer = await this.#handle(line.split(' ').filter((word) => word !== ''));
      this.#log.info('order carried out', { order: line });
      socket.end(`ok ${answer}`.trimEnd().concat('\n'));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#log.warn('order refused', { order: line, reason });
      socket.end(`error: ${reason}\n`);
    }
  }
}

function isAnswering(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Sends an order to a server. @returns the reply, without its newline @throws if no server listens */
export function sendOrder(path: string, words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(path, () => socket.write(`${words.join(' ')}\n`));
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk;
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(answer.trimEnd()));
  });
}
