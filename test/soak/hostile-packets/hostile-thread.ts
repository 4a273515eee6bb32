/**
 * The entry of a thread that sends hostile packets over UDP and TCP, and valid questions in between.
 */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { encodeMessage } from '@portolan/dns/message.ts';
import { TYPE } from '@portolan/dns/types.ts';
import { askShort, makeQuery } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';

export interface HostilePlan {
  readonly server: DnsServer;
  readonly seed: number;
  /** Packets over UDP; a hundredth as many connections are made over TCP. */
  readonly packets: number;
  /** A question that always has this answer. */
  readonly name: string;
  readonly answer: string;
}

// Started by one test alone.
const { server, seed, packets, name, answer } = workerData as HostilePlan;
const BURST = 250;

let state = seed;
/** A number from 0 to below `limit` (xorshift32: the same run for the same seed). */
function draw(limit: number): number {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % limit;
}

const types = Object.keys(TYPE) as readonly (keyof typeof TYPE)[]; // The keys of a constant.
const names = [
  name,
  'a.b.c',
  `x.${name}`,
  `*.${name}`,
  '_http._tcp.cart.shop.svc.cluster.local',
  '1.0.0.10.in-addr.arpa',
];
const samples = names.flatMap((each) => types.map((type) => encodeMessage(makeQuery(each, type))));

function randomOctets(length: number): Uint8Array {
  return Uint8Array.from({ length }, () => draw(256));
}

/** A good query with a few octets changed, cut short or made longer. */
function mutate(): Uint8Array {
  const octets = Uint8Array.from(samples[draw(samples.length)] ?? []);
  for (let change = draw(4); change >= 0; change -= 1) octets[draw(octets.length)] = draw(256);
  if (draw(4) === 0) return octets.subarray(0, draw(octets.length + 1));
  return draw(8) === 0 ? Buffer.concat([octets, randomOctets(draw(1_400))]) : octets;
}

const hostilePacket = () => (draw(5) === 0 ? randomOctets(draw(600)) : mutate());

async function checkAnswer(transport: 'udp' | 'tcp'): Promise<void> {
  const got = await askShort(server, name, 'A', { transport, deadline: 30_000 });
  if (got !== answer) throw new Error(`wrong answer by ${transport} among hostile packets: ${got}`);
}

/** A query whose answer comes when all that the same socket sent before it was read. */
const lastQuery = Buffer.from(encodeMessage(makeQuery(name, 'A')));
let lastId = 0;

/**
 * Until the server has read all that this socket has sent: a reader takes the packets of a socket in their order, so its receive
 * buffer never holds more than one burst.
 */
async function waitUntilRead(socket: UdpSocket): Promise<void> {
  lastId = (lastId + 1) % 0x10000;
  lastQuery.writeUInt16BE(lastId, 0);
  const id = lastId;
  await new Promise<void>((resolve, reject) => {
    const deadline = setTimeout(() => reject(new Error('no answer among hostile packets')), 30_000);
    const hear = (message: Buffer) => {
      const isLast = message.length >= lastQuery.length && message.readUInt16BE(0) === id;
      if (!isLast || message.compare(lastQuery, 12, lastQuery.length, 12, lastQuery.length) !== 0) return;
      clearTimeout(deadline);
      socket.off('message', hear);
      resolve();
    };
    socket.on('message', hear);
    socket.send(lastQuery);
  });
}

async function sendBurst(socket: UdpSocket): Promise<void> {
  await Promise.all(
    Array.from(
      { length: BURST },
      () => new Promise<void>((resolve) => socket.send(hostilePacket(), () => resolve())),
    ),
  );
  await waitUntilRead(socket);
  await checkAnswer('udp');
}

/** One connection that sends frames of garbage, right and wrong lengths, and may just be left. */
async function connectAndSend(): Promise<void> {
  const socket = connect(server.port, server.address);
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  for (let frame = draw(5); frame >= 0; frame -= 1) {
    const packet = hostilePacket();
    const length = draw(6) === 0 ? draw(65_536) : packet.length;
    socket.write(Buffer.concat([Uint8Array.of(length >> 8, length & 255), packet]));
  }
  socket.resume();
  if (draw(2) === 0) socket.end();
  else setTimeout(() => socket.destroy(), 5);
  await closed;
}

const socket = createSocket('udp4');
socket.on('message', () => {});
await new Promise<void>((resolve) => socket.connect(server.port, server.address, resolve));
for (let sent = 0; sent < packets; sent += BURST) {
  await sendBurst(socket);
  const connections = Array.from({ length: Math.ceil(BURST / 100) }, connectAndSend);
  await Promise.all(connections);
  if (sent % (BURST * 40) === 0) await checkAnswer('tcp');
  parentPort?.postMessage(sent + BURST);
}
socket.close();
