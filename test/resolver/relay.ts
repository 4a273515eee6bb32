/**
 * Passes a query on to a server, as a forwarder without any local data does.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { encodeMessage } from '@portolan/dns/message.ts';
import type { Message } from '@portolan/dns/types.ts';

/** @returns the response; rejects when none comes within a second */
export async function relay(query: Message, port: number): Promise<Uint8Array> {
  const socket = createSocket('udp4');
  try {
    socket.connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.send(encodeMessage(query));
    const [response] = await once(socket, 'message', { signal: AbortSignal.timeout(1_000) });
    return response as Uint8Array; // What the event brings.
  } finally {
    socket.close();
  }
}
