/**
 * Opens the ports that a kubelet probes before the code of the server is loaded. If the first probe finds a closed port, the next one
 * comes only after the period of the probe, 10 s by default. The kernel accepts the connection meanwhile, and the HTTP server of the
 * port answers it when it starts.
 *
 * The entry and the servers are separate bundles that share this module.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { EarlyListener } from '@portolan/server/observe/http-server.ts';
import { findHealthPlaces, type ProbedPlace } from './health-places.ts';

/** Connections that wait for the HTTP server; others are closed. */
const MAX_WAITING = 64;
/** Milliseconds between attempts to listen on an address that is not there yet. */
const RETRY_INTERVAL = 20;

class EarlyPort {
  readonly place: ProbedPlace;
  readonly #server: Server;
  readonly #waiting = new Set<Socket>();
  #listening = Promise.resolve(false);
  #retry: NodeJS.Timeout | undefined;

  constructor(place: ProbedPlace) {
    this.place = place;
    this.#server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) =>
      this.#keep(socket),
    );
    this.#server.maxConnections = MAX_WAITING;
    // For example too many open files: the next connection may be accepted.
    this.#server.on('error', () => {});
    this.#listen();
  }

  /** @returns undefined if the port is not open */
  async take(): Promise<EarlyListener | undefined> {
    clearTimeout(this.#retry);
    if (!(await this.#listening)) return undefined;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const socket of waiting) socket.ref();
    return { handle: this.#server, waiting };
  }

  async close(): Promise<void> {
    clearTimeout(this.#retry);
    if (!(await this.#listening)) return;
    this.#server.close();
    for (const socket of this.#waiting) socket.destroy();
  }

  #listen(): void {
    const { address, port } = this.place;
    this.#listening = once(this.#server, 'listening').then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        // The node's cache adds its addresses first. All other errors are those of the HTTP server too, which reports them.
        if (error.code === 'EADDRNOTAVAIL' && ports.has(this))
          this.#retry = setTimeout(() => this.#listen(), RETRY_INTERVAL).unref();
        return false;
      },
    );
    this.#server.listen(address === undefined ? { port } : { port, host: address });
    this.#server.unref();
  }

  #keep(socket: Socket): void {
    this.#waiting.add(socket);
    // A reset: `close` follows.
    socket.on('error', () => {}).on('close', () => this.#waiting.delete(socket));
    socket.unref();
  }
}

/** Those that no HTTP server has taken. */
const ports = new Set<EarlyPort>();

/** Opens the probed ports of a command. @param words the arguments after it */
export async function openEarlyPorts(command: string, words: readonly string[]): Promise<void> {
  const places = findHealthPlaces(command, words, (path) => readFileSync(path, 'utf8'));
  if (places.length === 0) return;
  for (const place of places) ports.add(new EarlyPort(place));
  // Node.js opens the port of an address in the next tick, which comes before the code is loaded only if one waits.
  await new Promise<void>((resolve) => process.nextTick(resolve));
}

/** Hands an open port to its HTTP server. @returns undefined if it is not open */
export async function takeEarlyPort({ address, port }: ProbedPlace): Promise<EarlyListener | undefined> {
  const early = [...ports].find(({ place }) => place.port === port);
  if (early === undefined) return undefined;
  ports.delete(early);
  if (early.place.address === address) return await early.take();
  // It would be in the way.
  await early.close();
  return undefined;
}

/** Closes the ports that no HTTP server has taken. */
export async function closeEarlyPorts(): Promise<void> {
  const left = [...ports];
  ports.clear();
  await Promise.all(left.map((early) => early.close()));
}
