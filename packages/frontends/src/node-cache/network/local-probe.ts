/**
 * Probes whether DNS is answered at an address of this machine, with a query that every server answers without an upstream.
 *
 * The query has opcode STATUS, which servers answer with NOTIMP (RFC 1035 section 4.1.1).
 */
import { createSocket } from 'node:dgram';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { randomId } from '@portolan/kernel/forward/transport/random-ids.ts';

/** Milliseconds that an answer may take: a process that starts on a busy machine opens its sockets before it reads them. */
const TIMEOUT = 1_000;
/** After this many probes without an answer the server counts as gone, although its port is open. */
const MAX_SILENT = 10;
const HEADER_OCTETS = 12;
const OPCODE_STATUS = 2;

type ProbeOutcome = 'answered' | 'closed' | 'silent';

/** The message of a query with this id. */
export type WriteProbe = (id: number) => Buffer;

/** Whether one query is answered in time. Never rejects. */
export async function isAnsweredAt(
  address: string,
  port: number,
  clock: Clock,
  write: WriteProbe = statusQuery,
): Promise<boolean> {
  return (await probe(address, port, clock, write)) === 'answered';
}

/** Whether a server has the port, even if it is too busy to answer at once. Never rejects. */
export async function isServedAt(address: string, port: number, clock: Clock): Promise<boolean> {
  for (let silent = 0; silent < MAX_SILENT; silent++) {
    const outcome = await probe(address, port, clock, statusQuery);
    if (outcome !== 'silent') return outcome === 'answered';
  }
  return false;
}

function probe(address: string, port: number, clock: Clock, write: WriteProbe): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    const id = randomId();
    let isDone = false;
    const end = (outcome: ProbeOutcome) => {
      if (isDone) return;
      isDone = true;
      timer.cancel();
      socket.removeAllListeners();
      socket.on('error', () => {});
      socket.close();
      resolve(outcome);
    };
    // If this thread was busy, the answer may have arrived: read it first.
    const timer = clock.after(TIMEOUT, () => void setImmediate(() => end('silent')));
    socket.on('message', (reply) => {
      if (reply.length >= HEADER_OCTETS && reply.readUInt16BE(0) === id) end('answered');
    });
    socket.on('error', () => end('closed'));
    // Connected, so that a closed port is reported at once.
    socket.connect(port, address, (error?: Error) => {
      if (error !== undefined) end('closed');
      else socket.send(write(id));
    });
  });
}

/** A query that servers answer without an upstream. */
export function statusQuery(id: number): Buffer {
  const query = Buffer.alloc(HEADER_OCTETS);
  query.writeUInt16BE(id, 0);
  query[2] = OPCODE_STATUS << 3;
  return query;
}
