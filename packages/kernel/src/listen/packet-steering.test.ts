import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../base/log.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { waitUntil } from '../base/testing/wait-until.ts';
import { type BoundSocket, closeDescriptor } from '../socket/descriptor.ts';
import { countReceived, openClients, openSharing } from '../socket/testing/shared-port.ts';
import { openUdpSocket } from '../socket/udp-socket.ts';
import { PacketSteering, type PacketSteeringOptions } from './packet-steering.ts';
import { makeSteeringWords, ReaderSteering, STEERING, SteeringWords } from './reader-steering.ts';

const ADDRESS = '127.0.0.1';
const CLIENTS = 24;
const LOOK = 500;

/** Readers that are only sockets: the test does the work of their threads. */
async function start(readers: number, changes: Partial<PacketSteeringOptions> = {}) {
  const sockets: BoundSocket[] = [...openSharing(ADDRESS, readers)];
  const clients = await openClients('udp4', CLIENTS);
  const memory = makeSteeringWords(3);
  const clock = new ManualClock();
  const words = new SteeringWords(memory);
  const endpoint = sockets[0]?.endpoint ?? { address: '', port: 0 };
  const started: (() => void)[] = [];
  const steering = new PacketSteering({
    memory,
    maxReaders: 3,
    sockets: () => sockets.map((socket) => [socket]),
    countStarted: () => sockets.length - started.length,
    startReader: () => {
      const socket = openUdpSocket(endpoint, 1);
      sockets.push(socket);
      onTestFinished(() => closeDescriptor(socket.fd));
      return new Promise((resolve) => started.push(resolve));
    },
    clock,
    log: silentLog,
    ...changes,
  });
  onTestFinished(() => steering.stop());
  return {
    clock,
    steering,
    words,
    endpoint,
    sockets,
    starting: started,
    reader: (place: number) => new ReaderSteering({ words: memory, place }, [sockets[place]?.fd ?? -1]),
    received: () => countReceived(clients, sockets, ADDRESS),
    /** Makes a started reader receive. */
    finishStart: async () => {
      started.shift()?.();
      steering.update(true);
      await turn();
    },
    /** Lets time pass; these readers are busy for a share of it. */
    work: (milliseconds: number, ...busy: readonly number[]) => {
      for (let passed = 0; passed < milliseconds; passed += LOOK) {
        for (const [place, share] of busy.entries()) words.addBusy(place, share * LOOK);
        clock.advance(LOOK);
      }
    },
  };
}

/** Reports full batches in a row, with half a millisecond's work in each millisecond. */
function overload(reader: ReaderSteering): void {
  reader.note(1, 3000, 0.5);
  for (let batch = 1; batch <= 16; batch++) reader.note(64, 3000 + batch, 0.5);
}

const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count);

it('gives each packet to one of the least readers that are enough', async () => {
  const { steering, received, work } = await start(3);
  const byClient = await received();
  expect(byClient).not.toContain(CLIENTS);
  steering.update(true);
  expect(await received()).toEqual([CLIENTS, 0, 0]);
  work(4500, 0.71);
  work(LOOK, 0.69);
  work(4500, 0.71);
  expect(await received()).toEqual([CLIENTS, 0, 0]);
  work(LOOK, 0.71);
  const byTwo = await received();
  expect(byTwo[2]).toBe(0);
  expect(sum(byTwo)).toBe(CLIENTS);
  expect(byTwo).not.toContain(CLIENTS);
  // The choice is random, so it repeats only with a probability of some 2^-23.
  expect([await received(), await received(), await received()]).not.toEqual([byTwo, byTwo, byTwo]);
  work(5000, 0.8, 0.65);
  const byThree = await received();
  expect(sum(byThree)).toBe(CLIENTS);
  work(60_000, 1, 1, 1);
  expect(await received()).not.toContain(CLIENTS);
  work(LOOK, 0.1, 0.1, 0.2);
  expect(await received()).toEqual([CLIENTS, 0, 0]);
});

it('starts a reader when it is needed, which gets packets when it receives', async () => {
  const { steering, received, work, starting, finishStart, sockets } = await start(1);
  steering.update(true);
  work(4500, 1);
  expect(sockets).toHaveLength(1);
  work(60_000, 1);
  expect(starting).toHaveLength(1);
  expect(await received()).toEqual([CLIENTS, 0]);
  await finishStart();
  const byTwo = await received();
  expect(byTwo).not.toContain(CLIENTS);
  work(LOOK, 0.1, 0.1);
  expect(await received()).toEqual([CLIENTS, 0]);
  // The reader exists already.
  work(5000, 1);
  expect(await received()).not.toContain(CLIENTS);
  expect(starting).toHaveLength(0);
  work(5000, 1, 1);
  await finishStart();
  work(60_000, 1, 1, 1);
  expect(sockets).toHaveLength(3);
  expect(sum(await received())).toBe(CLIENTS);
});

it('uses one more at once when the batches of a reader are full, but only once between two looks', async () => {
  const { steering, words, reader, received, work } = await start(3);
  const byClient = await received();
  steering.update(true);
  const one = reader(0);
  // The main thread does not watch yet.
  overload(one);
  expect(await received()).toEqual([CLIENTS, 0, 0]);
  work(LOOK, 0.1);
  for (let batch = 0; batch < 1000; batch++) one.note(batch % 100 < 15 ? 64 : 1, batch, 1);
  // A thread that was late has many packets at once, but spare time.
  for (let batch = 0; batch < 100; batch++) one.note(64, 2000 + batch, 0.3);
  expect(words.mode).toBe(STEERING.WATCHED);
  overload(one);
  // The reader does not wait for the main thread.
  expect(words.mode).toBe(STEERING.BY_CLIENT);
  expect(await received()).toEqual(byClient);
  await waitUntil('the main thread', () => words.mode === STEERING.STEERED);
  const byTwo = await received();
  expect(byTwo[2]).toBe(0);
  expect(sum(byTwo)).toBe(CLIENTS);
  expect(byTwo).not.toContain(CLIENTS);
  overload(reader(1));
  expect((await received())[2]).toBe(0);
  work(LOOK, 0.6, 0.6);
  overload(reader(1));
  await waitUntil('the main thread', () => words.mode === STEERING.STEERED);
  work(LOOK, 0.6, 0.6, 0.6);
  // All readers are in use.
  expect(words.mode).toBe(STEERING.STEERED);
});

it('leaves the choice to the kernel while a reader is down', async () => {
  const { steering, reader, words, received, work } = await start(3);
  const byClient = await received();
  steering.update(true);
  work(LOOK, 0.1);
  steering.update(false);
  expect(await received()).toEqual(byClient);
  overload(reader(0));
  await turn();
  work(60_000, 1, 1, 1);
  expect(words.mode).toBe(STEERING.BY_CLIENT);
  expect(await received()).toEqual(byClient);
  steering.update(true);
  expect(await received()).toEqual([CLIENTS, 0, 0]);
  steering.stop();
  steering.update(true);
  expect(await received()).toEqual(byClient);
});

it('leaves the choice to the kernel as long as others share the port', async () => {
  const { steering, endpoint, received, work, words } = await start(3);
  const byClient = await received();
  const other = openUdpSocket(endpoint, 1);
  steering.update(true);
  work(60_000, 0);
  expect(words.mode).toBe(STEERING.BY_CLIENT);
  closeDescriptor(other.fd);
  expect(await received()).toEqual(byClient);
  work(5000, 0);
  expect(await received()).toEqual([CLIENTS, 0, 0]);
});

it('starts readers that are needed while others share the port', async () => {
  const { steering, endpoint, starting, work, finishStart, words, sockets } = await start(1);
  const other = openUdpSocket(endpoint, 1);
  onTestFinished(() => closeDescriptor(other.fd));
  steering.update(true);
  work(5000, 1);
  expect(starting).toHaveLength(1);
  await finishStart();
  // Half of the readers are busy.
  work(60_000, 1, 0);
  expect(sockets).toHaveLength(2);
  expect(words.mode).toBe(STEERING.BY_CLIENT);
});

it('tries no more readers after one that could not be started', async () => {
  const tried: number[] = [];
  const { steering, received, work } = await start(2, {
    startReader: () => Promise.reject(new Error(`no thread: ${tried.push(1)}`)),
  });
  steering.update(true);
  work(10_000, 1, 1);
  await turn();
  work(60_000, 1, 1);
  expect(tried).toHaveLength(1);
  expect(await received()).not.toContain(CLIENTS);
});
