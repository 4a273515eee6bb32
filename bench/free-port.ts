/**
 * Finds a free port, for servers that need a port in their configuration.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

const TRIES = 20;

/** @returns a port that was free over UDP and TCP a moment ago */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const udp = createSocket('udp4');
    udp.bind(0, '127.0.0.1');
    await once(udp, 'listening');
    const { port } = udp.address();
    const free = await canListen(port);
    udp.close();
    if (free) return port;
  }
  throw new Error(`no port is free over both UDP and TCP: ${TRIES} tries`);
}

async function canListen(port: number): Promise<boolean> {
  const tcp = createServer();
  try {
    tcp.listen(port, '127.0.0.1');
    await once(tcp, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    tcp.close();
  }
}
