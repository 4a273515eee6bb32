/**
 * Sockets that share a port, and clients that show which of them the kernel gives packets to.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { PacketBatch } from '../batch.ts';
import { type BoundSocket, closeDescriptor } from '../descriptor.ts';
import { MSG_DONTWAIT } from '../linux.ts';
import { openUdpSocket } from '../udp-socket.ts';

/** Opens so many sockets of one port, which are closed when the test ends. */
export function openSharing(address: string, count: number): readonly BoundSocket[] {
  const opened: BoundSocket[] = [];
  onTestFinished(() => {
    for (const { fd } of opened) closeDescriptor(fd);
  });
  for (let index = 0; index < count; index++)
    opened.push(openUdpSocket({ address, port: opened[0]?.endpoint.port ?? 0 }, 1));
  return opened;
}

/** Clients with ports of their own, closed when the test ends. */
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

/** Has each client send a packet. @returns how many came to each socket */
export async function countReceived(
  clients: readonly Socket[],
  sockets: readonly BoundSocket[],
  address: string,
): Promise<readonly number[]> {
  const port = sockets[0]?.endpoint.port ?? 0;
  // On loopback a packet is in its queue when its sending ends.
  for (const client of clients)
    await new Promise<void>((resolve) => client.send('packet', port, address, () => resolve()));
  const batch = new PacketBatch(64);
  return sockets.map(({ fd }) => batch.receive(fd, MSG_DONTWAIT));
}
