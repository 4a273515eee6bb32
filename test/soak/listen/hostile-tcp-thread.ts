/**
 * The entry of a thread that attacks a server over TCP: it holds connections from several addresses, reopens closed ones, sends
 * the same octets on each repeatedly, and never reads.
 */
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

export interface AttackPlan {
  readonly port: number;
  /** 127.0.2.1 and those behind it. */
  readonly addresses: number;
  readonly connectionsPerAddress: number;
  /** What each connection sends, every 20 ms; nothing where it is empty. */
  readonly octets: Uint8Array;
}

const SEND_MILLISECONDS = 20;
const AGAIN_MILLISECONDS = 100;

// Started by `attack` alone.
const { port, addresses, connectionsPerAddress, octets } = workerData as AttackPlan;

function hold(localAddress: string): void {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  const sender = setInterval(() => {
    if (octets.length > 0 && !socket.writableNeedDrain) socket.write(octets);
  }, SEND_MILLISECONDS);
  socket.pause();
  socket.on('connect', () => parentPort?.postMessage('connected'));
  socket.on('error', () => {});
  socket.on('close', () => {
    clearInterval(sender);
    setTimeout(() => hold(localAddress), AGAIN_MILLISECONDS);
  });
}

for (let index = 0; index < addresses * connectionsPerAddress; index++)
  setTimeout(() => hold(`127.0.2.${(index % addresses) + 1}`), index / 2);
