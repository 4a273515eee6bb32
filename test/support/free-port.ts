/**
 * Ports of loopback that nobody has, neither by UDP nor by TCP.
 */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Below the ports that kernels give to clients, or a client of another test would take one before its server does. */
const FIRST = 20_000;
const COUNT = 10_000;

/** Free at the moment, and unlikely to be taken by anybody else soon. */
export async function findFreePort(address = '127.0.0.1'): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if ((await isFreeByUdp(port, address)) && (await isFreeByTcp(port, address))) return port;
  }
  throw new Error(`no port free for UDP and TCP: ${address}`);
}

function isFreeByUdp(port: number, address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    socket.once('error', () => resolve(false));
    socket.bind(port, address, () => socket.close(() => resolve(true)));
  });
}

function isFreeByTcp(port: number, address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, address, () => server.close(() => resolve(true)));
  });
}
