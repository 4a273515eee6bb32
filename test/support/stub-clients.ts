/**
 * Clients like the stub resolvers of pods: each queries a name of its own, waits 2 s, and retries, at most three times.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { encodeMessage } from '@portolan/dns/message.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';

const TRIES = 3;
const TRY_MILLISECONDS = 2000;
const SOCKETS = 4;
/** Milliseconds between two looks at the clock. */
const TICK = 2;

export interface StubLoad {
  readonly port: number;
  readonly perSecond: number;
  readonly names: number;
  /** The name number so much. */
  makeName(index: number): string;
}

/** Milliseconds from the first try of each name to its address; infinite where it got none. In the order of the names. */
export async function askAsStubs({ port, perSecond, names, makeName }: StubLoad): Promise<readonly number[]> {
  const took = new Float64Array(names).fill(Number.NaN);
  const begun = new Float64Array(names);
  const tries = new Uint8Array(names);
  const sockets = await Promise.all(Array.from({ length: SOCKETS }, () => openSocket(port)));
  const ask = (index: number) => {
    const octets = encodeMessage(makeQuery(makeName(index), 'A'));
    octets.set([index >> 8, index & 255]);
    tries[index] = (tries[index] ?? 0) + 1;
    sockets[index % SOCKETS]?.send(octets);
  };
  let left = names;
  const settle = (index: number, milliseconds: number) => {
    if (!(index < names) || !Number.isNaN(took[index] ?? 0)) return;
    took[index] = milliseconds;
    left -= 1;
  };
  for (const socket of sockets)
    socket.on('message', (reply) => {
      const index = reply.readUInt16BE(0);
      const isAddress = ((reply[3] ?? 0) & 15) === 0 && reply.readUInt16BE(6) > 0;
      settle(index, isAddress ? performance.now() - (begun[index] ?? 0) : Number.POSITIVE_INFINITY);
    });
  const start = performance.now();
  let next = 0;
  while (left > 0) {
    const now = performance.now();
    for (; next < names && now >= start + (next * 1000) / perSecond; next += 1) {
      begun[next] = now;
      ask(next);
    }
    for (let index = 0; index < next; index += 1) {
      const tried = tries[index] ?? 0;
      if (!Number.isNaN(took[index] ?? 0) || now < (begun[index] ?? 0) + tried * TRY_MILLISECONDS) continue;
      if (tried < TRIES) ask(index);
      else settle(index, Number.POSITIVE_INFINITY);
    }
    await new Promise((resolve) => setTimeout(resolve, TICK));
  }
  for (const socket of sockets) socket.close();
  return [...took];
}

async function openSocket(port: number): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 2 ** 20 });
  socket.on('error', () => {});
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}
