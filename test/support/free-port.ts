/**
 * Ports of loopback that nobody has, neither by UDP nor by TCP.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Free at the moment; nothing keeps others from taking it, so whoever starts a server on it must be ready for that. */
export async function findFreePort(address = '127.0.0.1'): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const server = createServer().listen(0, address);
    await once(server, 'listening');
    const bound = server.address();
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
    const isFree = await isFreeByUdp(port, address);
    server.close();
    await once(server, 'close');
    if (isFree) return port;
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
