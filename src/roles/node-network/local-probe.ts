/**
 * Whether DNS is answered at an address of this machine: a query that every server answers by itself, without asking upstream.
 *
 * It is a query of opcode STATUS, which servers answer with NOTIMP (RFC 1035 section 4.1.1).
 */
import { createSocket } from 'node:dgram';
import type { Clock } from '../../base/clock.ts';
import { randomId } from '../../forward/transport/random-ids.ts';

/** Milliseconds that an answer may take: a process that starts on a busy machine has its sockets before it reads them. */
const TIMEOUT = 1_000;
/** So many probes without an answer say that a server is gone, though its port is open. */
const MAX_SILENT = 10;
const HEADER_OCTETS = 12;
const OPCODE_STATUS = 2;

type Outcome = 'answered' | 'closed' | 'silent';

/** Whether one query is answered in time. Never rejects. */
export async function isAnsweredAt(address: string, port: number, clock: Clock): Promise<boolean> {
  return (await probe(address, port, clock)) === 'answered';
}

/** Whether a server is there, which may be too busy to answer at once. Never rejects. */
export async function isServedAt(address: string, port: number, clock: Clock): Promise<boolean> {
  for (let silent = 0; silent < MAX_SILENT; silent++) {
    const outcome = await probe(address, port, clock);
    if (outcome !== 'silent') return outcome === 'answered';
  }
  return false;
}

function probe(address: string, port: number, clock: Clock): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    const id = randomId();
    let isDone = false;
    const end = (outcome: Outcome) => {
      if (isDone) return;
      isDone = true;
      timer.cancel();
      socket.removeAllListeners();
      socket.on('error', () => {});
      socket.close();
      resolve(outcome);
    };
    // When this thread was busy, the answer is perhaps there, and is read before that.
    const timer = clock.after(TIMEOUT, () => void setImmediate(() => end('silent')));
    socket.on('message', (reply) => {
      if (reply.length >= HEADER_OCTETS && reply.readUInt16BE(0) === id) end('answered');
    });
    socket.on('error', () => end('closed'));
    // Connected, so that a closed port is reported at once.
    socket.connect(port, address, (error?: Error) => {
      if (error !== undefined) end('closed');
      else socket.send(statusQuery(id));
    });
  });
}

function statusQuery(id: number): Buffer {
  const query = Buffer.alloc(HEADER_OCTETS);
  query.writeUInt16BE(id, 0);
  query[2] = OPCODE_STATUS << 3;
  return query;
}
