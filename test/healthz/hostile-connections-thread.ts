/**
 * The entry of a thread that keeps many connections to an HTTP port open: with half a request, without a request, with
 * answers that it never reads; or that reopens them as soon as they are closed, each with many requests at once.
 */
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface HostileConnections {
  readonly port: number;
  readonly connections: number;
  /** Addresses of loopback that they come from. */
  readonly clients: number;
  readonly kind: 'half' | 'silent' | 'unread' | 'pipelined' | 'reopened';
}

// Started by one test alone.
const { port, connections, clients, kind } = workerData as HostileConnections;
const PIPELINED = 50;
const GET = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';
const TEXT = {
  half: 'GET /healthz HTTP/1.1\r\nhost: x\r\n',
  silent: '',
  unread: GET,
  pipelined: GET.repeat(PIPELINED),
  reopened: GET,
};
let opened = 0;
// Sockets that read nothing do not keep a thread from ending, which would close them.
setInterval(() => {}, 60_000);

function open(index: number): void {
  const localAddress = `127.0.0.${1 + (index % clients)}`;
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  if (kind === 'unread') socket.pause();
  else socket.resume();
  socket.once('connect', () => {
    socket.write(TEXT[kind]);
    opened += 1;
    if (opened === connections) parentPort?.postMessage('opened');
  });
  // It is closed by the server, as it should be.
  socket.on('error', () => {});
  if (kind === 'pipelined' || kind === 'reopened') socket.once('close', () => open(index));
}

for (let index = 0; index < connections; index += 1) open(index);
