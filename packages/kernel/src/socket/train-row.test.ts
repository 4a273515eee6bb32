import fc from 'fast-check';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { SocketAddress } from './addresses.ts';
import { PacketBatch } from './batch.ts';
import { connectUdp } from './connected-udp.ts';
import { closeDescriptor, setOption } from './descriptor.ts';
import { IPPROTO_UDP, MSG_DONTWAIT, MSG_ERRQUEUE, SOL_SOCKET } from './linux.ts';
import { TRAIN_PACKETS, TrainRow, type TrainSender, trainsAvailable } from './train-row.ts';
import { openUdpSocket } from './udp-socket.ts';

/** Makes a socket receive trains as they were sent. */
const UDP_GRO = 104;
/** A socket without checksums cannot send trains: the kernel returns EINVAL. */
const SO_NO_CHECK = 11;

class Sender implements TrainSender {
  couples = true;
  /** The train of each seat. */
  readonly trains: number[] = [];
  readonly refusedTrains: number[] = [];
  readonly refused: (readonly [socket: number, seat: number])[] = [];
  readonly reported: number[] = [];

  mayCouple(): boolean {
    return this.couples;
  }
  coupled(seat: number, train: number): void {
    this.trains[seat] = train;
  }
  trainRefused(socket: number): void {
    this.refusedTrains.push(socket);
  }
  packetRefused(socket: number, seat: number): void {
    this.refused.push([socket, seat]);
  }
  errorReported(socket: number): void {
    this.reported.push(socket);
  }
}

interface Peer {
  /** Descriptors of the server, and of the socket connected to it. */
  readonly server: number;
  readonly client: number;
}

function open(address = '127.0.0.1'): Peer {
  const { fd: server, endpoint } = openUdpSocket({ address, port: 0 }, 50);
  onTestFinished(() => closeDescriptor(server));
  return { server, client: connect(endpoint) };
}

function connect(peer: SocketAddress): number {
  const client = connectUdp({ peer, source: undefined, shared: false });
  onTestFinished(() => closeDescriptor(client));
  return client;
}

const batch = new PacketBatch(2 ** 14);

function receive(fd: number, flags = 0): readonly string[] {
  const count = batch.receive(fd, MSG_DONTWAIT | flags);
  return Array.from({ length: Math.max(0, count) }, (_, index) => {
    const start = batch.startAt(index);
    return Buffer.from(batch.octets.subarray(start, start + batch.lengthAt(index))).toString();
  });
}

let sender: Sender;
let row: TrainRow;

beforeEach(() => {
  sender = new Sender();
  row = new TrainRow(320, sender);
});

function add(socket: number, fd: number, text: string): void {
  row.octets.set(Buffer.from(text), row.next);
  row.add(socket, fd, text.length);
}

/** Different texts of these lengths. */
const texts = (lengths: readonly number[]) =>
  lengths.map((length, index) => String(index).padEnd(length, '.'));

it('brings every packet to its peer as it was written, whatever the lengths, in trains or not', () => {
  expect(trainsAvailable()).toBe(true);
  const peers = [open(), open('::1'), open()];
  const packet = fc.tuple(fc.nat({ max: 2 }), fc.oneof(fc.integer({ min: 2, max: 320 }), fc.constant(75)));
  const rows = fc.array(packet, { minLength: 1, maxLength: TRAIN_PACKETS });
  fc.assert(
    fc.property(rows, fc.boolean(), (packets, couples) => {
      sender.couples = couples;
      const all = texts(packets.map(([, length]) => length));
      for (const [index, [socket]] of packets.entries())
        add(socket, peers[socket]?.client ?? -1, all[index] ?? '');
      row.flush();
      for (const [socket, { server }] of peers.entries())
        expect([...receive(server)].sort()).toEqual(
          all.filter((_, at) => packets[at]?.[0] === socket).sort(),
        );
    }),
    { numRuns: 100 },
  );
  expect([sender.refusedTrains, sender.refused, sender.reported]).toEqual([[], [], []]);
});

it('makes packets of one length, and a shorter one, a single message; the longest first', () => {
  const { server, client } = open();
  setOption(server, IPPROTO_UDP, UDP_GRO, 1);
  const all = texts([60, 75, 60, 50, 75, 75, 40]);
  for (const text of all) add(5, client, text);
  row.flush();
  expect(receive(server)).toEqual([
    [1, 4, 5, 0].map((index) => all[index]).join(''),
    [2, 3].map((index) => all[index]).join(''),
    all[6],
  ]);
  const [long = 0, short = 0] = [sender.trains[1], sender.trains[2]];
  expect(sender.trains).toEqual([long, long, short, short, long, long]);
  expect(new Set([long, short, 0]).size).toBe(3);
});

it('sends one by one, at once, what the kernel does not take as a train', () => {
  const { server, client } = open();
  setOption(client, SOL_SOCKET, SO_NO_CHECK, 1);
  const all = texts([75, 75, 60, 60, 50]);
  for (const text of all) add(3, client, text);
  row.flush();
  expect([...receive(server)].sort()).toEqual([...all].sort());
  expect([...new Set(sender.refusedTrains)]).toEqual([3]);
  expect(sender.trains.every((train) => train === 0)).toBe(true);
  expect([sender.refused, sender.reported]).toEqual([[], []]);
});

it('tells of a port that is closed by the first packet of the train that was sent there', () => {
  const { fd: server, endpoint } = openUdpSocket({ address: '127.0.0.1', port: 0 }, 50);
  const client = connect(endpoint);
  closeDescriptor(server);
  const all = texts([75, 75, 75]);
  for (const text of all) add(1, client, text);
  row.flush();
  expect(sender.reported).toEqual([]);
  expect(receive(client, MSG_ERRQUEUE).map((text) => text.slice(0, 75))).toEqual([all[0]]);
});

it('says which packets are not sent at all', () => {
  for (const text of texts([75, 75, 75])) add(2, -1, text);
  row.flush();
  expect(sender.reported).toEqual([2]);
  expect(sender.refused).toEqual([0, 1, 2].map((seat) => [2, seat]));
});
