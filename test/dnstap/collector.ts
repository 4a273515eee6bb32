/**
 * A collector of dnstap: takes Frame Streams on a socket, and can write what it got as a file that `dnstap-read` reads.
 */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { CONTROL, controlFrame, dataFrame } from '@portolan/plugins/dnstap/frame-stream.ts';
import { onTestFinished } from 'vitest';
import { readTlsFixture } from '../api-server/tls-fixture.ts';

const WORD = 4;

export class Collector {
  readonly frames: Buffer[] = [];
  /** Control frames in the order in which they came. */
  readonly controls: number[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('secureConnection', (socket) => this.#serve(socket));
  }

  /** @param where the path of a socket, or a port of loopback */
  static async start(where: string | number, kind: 'plain' | 'tls' = 'plain'): Promise<Collector> {
    const server = kind === 'tls' ? createTlsServer(readTlsFixture('server')) : createServer();
    const collector = new Collector(server);
    if (kind === 'plain') server.on('connection', (socket) => collector.#serve(socket));
    await new Promise<void>((resolve) => {
      if (typeof where === 'string') server.listen(where, resolve);
      else server.listen(where, '127.0.0.1', resolve);
    });
    onTestFinished(() => collector.stop());
    return collector;
  }

  /** Connects to a server that listens for collectors, as soon as it does. @param where the path of a socket, or a port of loopback */
  static async connect(where: string | number, tls?: ConnectionOptions): Promise<Collector> {
    const collector = new Collector(createServer());
    const place = typeof where === 'string' ? { path: where } : { host: '127.0.0.1', port: where };
    const socket = tls === undefined ? connect(place) : connectTls({ ...place, ...tls });
    collector.#serve(socket);
    onTestFinished(() => void socket.destroy());
    await once(socket, tls === undefined ? 'connect' : 'secureConnect');
    return collector;
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Writes a stream in one direction, which has no handshake. */
  async save(path: string): Promise<void> {
    const content = [controlFrame(CONTROL.START), ...this.frames.map(dataFrame), controlFrame(CONTROL.STOP)];
    await writeFile(path, Buffer.concat(content));
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    let octets = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (more) => {
      octets = Buffer.concat([octets, more]);
      for (let length = this.#take(octets, socket); length > 0; length = this.#take(octets, socket))
        octets = octets.subarray(length);
    });
  }

  /** @returns the octets of the first frame; 0 if it is not complete */
  #take(octets: Buffer, socket: Socket): number {
    const length = octets.length < WORD ? undefined : octets.readUInt32BE(0);
    if (length === undefined || octets.length < 2 * WORD + (length === 0 ? 0 : length - WORD)) return 0;
    const end = length === 0 ? 2 * WORD + octets.readUInt32BE(WORD) : WORD + length;
    if (octets.length < end) return 0;
    if (length > 0) {
      this.frames.push(octets.subarray(WORD, end));
      return end;
    }
    const type = octets.readUInt32BE(2 * WORD);
    this.controls.push(type);
    if (type === CONTROL.READY) socket.write(controlFrame(CONTROL.ACCEPT));
    if (type === CONTROL.STOP) socket.end(controlFrame(CONTROL.FINISH));
    return end;
  }
}
