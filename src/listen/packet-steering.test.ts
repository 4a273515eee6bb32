import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../base/log.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { waitUntil } from '../base/testing/wait-until.ts';
import { closeDescriptor } from '../socket/descriptor.ts';
import { countReceived, openClients, openSharing } from '../socket/testing/shared-port.ts';
import { openUdpSocket } from '../socket/udp-socket.ts';
import { PacketSteering } from './packet-steering.ts';
import { makeSteeringWords, ReaderSteering, STEERING, SteeringWords } from './reader-steering.ts';

const ADDRESS = '127.0.0.1';
const CLIENTS = 24;

/** Readers that are sockets alone: the test does what their threads would. */
async function start() {
  const sockets = openSharing(ADDRESS, 3);
  const clients = await openClients('udp4', CLIENTS);
  const memory = makeSteeringWords();
  const clock = new ManualClock();
  const packets = { received: 0 };
  const steering = new PacketSteering({
    memory,
    sockets: sockets.map((socket) => [socket]),
    countPackets: () => packets.received,
    clock,
    log: silentLog,
  });
  onTestFinished(() => steering.stop());
  const byClient = await countReceived(clients, sockets, ADDRESS);
  return {
    ...{ clock, steering, packets, byClient, endpoint: sockets[0]?.endpoint ?? { address: '', port: 0 } },
    words: new SteeringWords(memory),
    reader: new ReaderSteering(memory, [sockets[0]?.fd ?? -1]),
    received: () => countReceived(clients, sockets, ADDRESS),
  };
}

const ALL_TO_ONE = [CLIENTS, 0, 0];

it('gives all packets to one reader, until its batches grow, and again when far fewer come', async () => {
  const { clock, steering, packets, words, reader, received, byClient } = await start();
  expect(await received()).toEqual(byClient);
  steering.update(true);
  expect(await received()).toEqual(ALL_TO_ONE);
  for (let batch = 0; batch < 1000; batch++) reader.note(batch % 100 < 15 ? 64 : 1, batch, 1);
  // A thread that was late has many packets at once, and time.
  for (let batch = 0; batch < 100; batch++) reader.note(64, 2000 + batch, 0.3);
  expect(words.mode).toBe(STEERING.ONE);
  // 64 packets in half a millisecond.
  reader.note(1, 3000, 0.5);
  for (let batch = 1; batch <= 16; batch++) reader.note(64, 3000 + batch, 0.5);
  // The reader does not wait for the main thread.
  expect(words.mode).toBe(STEERING.BY_CLIENT);
  expect(await received()).toEqual(byClient);
  await waitUntil('the main thread', () => words.mode === STEERING.RANDOM);
  expect(words.capacity).toBe(128_000);
  const shares = await received();
  expect(shares.reduce((sum, count) => sum + count)).toBe(CLIENTS);
  expect(shares).not.toContain(CLIENTS);
  // One reader got all for less than a second, so the pause is half a second, not a quarter.
  packets.received += 0.5 * 0.31 * words.capacity;
  clock.advance(500);
  expect(words.mode).toBe(STEERING.RANDOM);
  packets.received += 0.5 * 0.29 * words.capacity;
  clock.advance(500);
  expect(words.mode).toBe(STEERING.ONE);
  expect(await received()).toEqual(ALL_TO_ONE);
});

it('knows batches that grow on average', async () => {
  const { steering, words, reader } = await start();
  steering.update(true);
  for (let batch = 0; words.mode === STEERING.ONE && batch < 600; batch++) reader.note(20, batch, 0.5);
  expect(words.capacity).toBe(40_000);
});

it('leaves the choice to the kernel while a reader is down', async () => {
  const { steering, reader, words, received, byClient } = await start();
  steering.update(true);
  steering.update(false);
  expect(await received()).toEqual(byClient);
  for (let batch = 0; batch < 16; batch++) reader.note(64, batch, 1);
  await turn();
  expect(words.mode).toBe(STEERING.BY_CLIENT);
  expect(await received()).toEqual(byClient);
  steering.update(true);
  expect(await received()).toEqual(ALL_TO_ONE);
  steering.stop();
  steering.update(true);
  expect(await received()).toEqual(byClient);
});

it('leaves the choice to the kernel as long as others share the port', async () => {
  const { clock, steering, endpoint, received, byClient } = await start();
  const other = openUdpSocket(endpoint, 1);
  steering.update(true);
  clock.advance(60_000);
  closeDescriptor(other.fd);
  expect(await received()).toEqual(byClient);
  clock.advance(5000);
  expect(await received()).toEqual(ALL_TO_ONE);
});
