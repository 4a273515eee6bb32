/**
 * A slow path to the API server double on which all connections are killed every few seconds, in the time of a manual clock.
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';

export interface RelayOptions {
  /** Octets a second of each connection, towards the client. */
  readonly rate: number;
  /** Milliseconds between two kills, in turn. */
  readonly kills: readonly number[];
}

const TICK_MILLISECONDS = 10;

export class InterruptingRelay {
  readonly #clock: ManualClock;
  readonly #options: RelayOptions;
  readonly #server: Server;
  readonly #waiting = new Map<Socket, Buffer[]>();
  #target = 0;
  /** Connections that were killed before their end. */
  killed = 0;

  private constructor(clock: ManualClock, options: RelayOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#server = createServer((client) => this.#relay(client));
  }

  static async start(clock: ManualClock, options: RelayOptions): Promise<InterruptingRelay> {
    const relay = new InterruptingRelay(clock, options);
    await new Promise<void>((resolve) => relay.#server.listen(0, '127.0.0.1', resolve));
    relay.#tick();
    relay.#killLater(0);
    return relay;
  }

  get url(): URL {
    const { port } = this.#server.address() as AddressInfo; // It listens on a port.
    return new URL(`http://127.0.0.1:${port}`);
  }

  /** Connections are forwarded to this port of 127.0.0.1. */
  forwardTo(port: number): void {
    this.#target = port;
  }

  async stop(): Promise<void> {
    for (const client of this.#waiting.keys()) client.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #relay(client: Socket): void {
    const server = connect(this.#target, '127.0.0.1');
    const pieces: Buffer[] = [];
    this.#waiting.set(client, pieces);
    client.pipe(server);
    server.on('data', (piece) => pieces.push(piece));
    for (const socket of [client, server]) socket.on('error', () => {});
    client.on('close', () => {
      this.#waiting.delete(client);
      server.destroy();
    });
  }

  #tick(): void {
    for (const [client, pieces] of this.#waiting) {
      let room = (this.#options.rate * TICK_MILLISECONDS) / 1000;
      for (let piece = pieces.shift(); piece !== undefined && room > 0; piece = pieces.shift()) {
        client.write(piece.subarray(0, room));
        if (piece.length > room) pieces.unshift(piece.subarray(room));
        room -= piece.length;
        if (room <= 0) break;
      }
    }
    this.#clock.after(TICK_MILLISECONDS, () => this.#tick());
  }

  #killLater(turn: number): void {
    const { kills } = this.#options;
    this.#clock.after(kills[turn % kills.length] ?? 0, () => {
      this.killed += this.#waiting.size;
      for (const client of this.#waiting.keys()) client.resetAndDestroy();
      this.#killLater(turn + 1);
    });
  }
}
