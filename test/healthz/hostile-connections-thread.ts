/**
 * The entry of a thread that holds many connections to an HTTP port open: with half a request, with nothing, or with
 * answers that it never reads.
 */
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface HostileConnections {
  readonly port: number;
  readonly connections: number;
  /** Addresses of loopback that they come from. */
  readonly clients: number;
  readonly kind: 'half' | 'silent' | 'unread';
}

// Started by one test alone.
const { port, connections, clients, kind } = workerData as HostileConnections;
const TEXT = {
  half: 'GET /healthz HTTP/1.1\r\nhost: x\r\n',
  silent: '',
  unread: 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n',
};
let opened = 0;
// Sockets that read nothing do not keep a thread from ending, which would close them.
setInterval(() => {}, 60_000);

for (let index = 0; index < connections; index += 1) {
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
}
