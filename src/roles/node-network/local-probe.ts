/**
 * Whether DNS is answered at an address of this machine: a query that every server answers by itself, without asking upstream.
 *
 * It is a query of opcode STATUS, which servers answer with NOTIMP (RFC 1035 section 4.1.1).
 */
import { createSocket } from 'node:dgram';
import type { Clock } from '../../base/clock.ts';
import { randomId } from '../../forward/transport/random-ids.ts';

/** Milliseconds that an answer may take. */
const TIMEOUT = 500;
const HEADER_OCTETS = 12;
const OPCODE_STATUS = 2;

/** Never rejects. */
export function isAnsweredAt(address: string, port: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    const id = randomId();
    const end = (isAnswered: boolean) => {
      timer.cancel();
      socket.removeAllListeners();
      socket.on('error', () => {});
      socket.close();
      resolve(isAnswered);
    };
    const timer = clock.after(TIMEOUT, () => end(false));
    socket.on('message', (reply) => {
      if (reply.length >= HEADER_OCTETS && reply.readUInt16BE(0) === id) end(true);
    });
    socket.on('error', () => end(false));
    // Connected, so that a closed port is reported at once.
    socket.connect(port, address, (error?: Error) => {
      if (error !== undefined) end(false);
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
