/**
 * Loopback ports that are free for UDP and TCP.
 */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Below the ports that kernels give to clients: otherwise a client of another test could take one before its server does. */
const FIRST = 20_000;
/** Each worker of vitest has its own range, so that two tests never get the same port. */
const PORTS_PER_WORKER = 1_000;
const WORKERS = 10;

const { VITEST_POOL_ID = '0' } = process.env;
const first = FIRST + (Number(VITEST_POOL_ID) % WORKERS) * PORTS_PER_WORKER;
let count = Math.floor(Math.random() * PORTS_PER_WORKER);

/** A port that is free for UDP and TCP now, and is not given to another test soon. */
export async function findFreePort(address = '127.0.0.1'): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    count += 1;
    const port = first + (count % PORTS_PER_WORKER);
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
