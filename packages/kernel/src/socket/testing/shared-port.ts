/**
 * Sockets that share a port, and clients that show which socket gets their packets.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { PacketBatch } from '../batch.ts';
import { type BoundSocket, closeDescriptor } from '../descriptor.ts';
import { MSG_DONTWAIT } from '../linux.ts';
import { openUdpSocket } from '../udp-socket.ts';

/** Opens several sockets on one port, and closes them when the test ends. */
export function openSharing(address: string, count: number): readonly BoundSocket[] {
  const opened: BoundSocket[] = [];
  onTestFinished(() => {
    for (const { fd } of opened) closeDescriptor(fd);
  });
  for (let index = 0; index < count; index++)
    opened.push(openUdpSocket({ address, port: opened[0]?.endpoint.port ?? 0 }, 1));
  return opened;
}

/** Clients with separate ports, closed when the test ends. */
export async function openClients(family: 'udp4' | 'udp6', count: number): Promise<readonly Socket[]> {
  const clients = Array.from({ length: count }, () => createSocket(family));
  onTestFinished(() => {
    for (const client of clients) client.close();
  });
  for (const client of clients) {
    client.bind();
    await once(client, 'listening');
  }
  return clients;
}

/** Makes each client send a packet. @returns how many each socket got */
export async function countReceived(
  clients: readonly Socket[],
  sockets: readonly BoundSocket[],
  address: string,
): Promise<readonly number[]> {
  const port = sockets[0]?.endpoint.port ?? 0;
  // On loopback a packet is queued at the receiver once `send` ends.
  for (const client of clients)
    await new Promise<void>((resolve) => client.send('packet', port, address, () => resolve()));
  const batch = new PacketBatch(64);
  return sockets.map(({ fd }) => batch.receive(fd, MSG_DONTWAIT));
}
