/**
 * The entry of a thread that keeps many connections to an HTTP port open: with half a request, with one that grows slowly, without a
 * request, with answers that it never reads; or that reopens them as soon as they are closed, each with many requests at once.
 */
import { connect, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface HostileConnections {
  readonly port: number;
  readonly connections: number;
  /** Addresses of loopback that they come from. */
  readonly clients: number;
  readonly kind: Kind | 'mixed';
  /** Default: `/healthz`. */
  readonly path?: string;
}

const KINDS = ['half', 'slow', 'silent', 'unread', 'pipelined', 'reopened'] as const;
type Kind = (typeof KINDS)[number];

// Started by one test alone.
const { port, connections, clients, kind: chosen, path = '/healthz' } = workerData as HostileConnections;
const PIPELINED = 50;
const HALF = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n`;
const GET = `${HALF}\r\n`;
const TEXT = {
  half: HALF,
  slow: HALF,
  silent: '',
  unread: GET,
  pipelined: GET.repeat(PIPELINED),
  reopened: GET,
};
let opened = 0;
const slow = new Set<Socket>();
// Sockets that read nothing do not keep a thread from ending, which would close them; this does.
setInterval(() => {
  for (const socket of slow) socket.write('x: y\r\n');
}, 100);

function open(index: number): void {
  const kind = chosen === 'mixed' ? (KINDS[index % KINDS.length] ?? 'half') : chosen;
  const localAddress = `127.0.0.${1 + (index % clients)}`;
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  if (kind === 'unread') socket.pause();
  else socket.resume();
  socket.once('connect', () => {
    socket.write(TEXT[kind]);
    if (kind === 'slow') slow.add(socket);
    opened += 1;
    if (opened === connections) parentPort?.postMessage('opened');
  });
  // It is closed by the server, as it should be.
  socket.on('error', () => {}).once('close', () => slow.delete(socket));
  if (kind === 'pipelined' || kind === 'reopened') socket.once('close', () => open(index));
}

for (let index = 0; index < connections; index += 1) open(index);
