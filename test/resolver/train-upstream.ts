/**
 * A server that receives each packet train as one long packet, so that a test sees them. Every name has an address.
 */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { OPT_OCTETS } from '@portolan/dns/query-records.ts';
import { setOption } from '@portolan/kernel/socket/descriptor.ts';
import { IPPROTO_UDP } from '@portolan/kernel/socket/linux.ts';
import { openUdpSocket } from '@portolan/kernel/socket/udp-socket.ts';
import { onTestFinished } from 'vitest';

const UDP_GRO = 104;
/** 192.0.2.1, for a minute, of the name at the question. */
const ADDRESS = Uint8Array.of(0xc0, HEADER_OCTETS, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1);
const FLAGS = [0x81, 0x80] as const;

export class TrainUpstream {
  readonly address: string;
  /** Queries of each train that came. */
  readonly trains: number[] = [];
  /** Whether trains are lost on the way. */
  losesTrains = false;
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const { address, port } = socket.address();
    this.address = `${address}:${port}`;
    socket.on('message', (packet, from) => this.#receive(packet, from));
  }

  /** Starts one, which ends with the test. */
  static start(): TrainUpstream {
    const { fd } = openUdpSocket({ address: '127.0.0.1', port: 0 }, 1);
    setOption(fd, IPPROTO_UDP, UDP_GRO, 1);
    const socket = createSocket('udp4');
    socket.bind({ fd });
    onTestFinished(() => void socket.close());
    return new TrainUpstream(socket);
  }

  #receive(packet: Buffer, { address, port }: RemoteInfo): void {
    const queries = [...splitQueries(packet)];
    if (queries.length > 1) {
      this.trains.push(queries.length);
      if (this.losesTrains) return;
    }
    for (const query of queries) this.#socket.send(replyTo(query), port, address);
  }
}

/** Queries end with an OPT record without options, if with any. */
function* splitQueries(packet: Uint8Array): Iterable<Uint8Array> {
  for (let from = 0; from < packet.length; ) {
    const end = questionEnd(packet, from) + (packet[from + 11] === 0 ? 0 : OPT_OCTETS);
    yield packet.subarray(from, end);
    from = end;
  }
}

function questionEnd(packet: Uint8Array, from: number): number {
  let at = from + HEADER_OCTETS;
  while ((packet[at] ?? 0) !== 0) at += (packet[at] ?? 0) + 1;
  return at + 5;
}

function replyTo(query: Uint8Array): Uint8Array {
  const end = questionEnd(query, 0);
  const reply = Uint8Array.of(...query.subarray(0, end), ...ADDRESS, ...query.subarray(end));
  reply.set(FLAGS, 2);
  reply[7] = 1;
  return reply;
}
