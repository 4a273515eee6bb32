/**
 * The entry of a thread that keeps sending questions, from many ports so that every reader has its share, and counts losses:
 * questions without an answer for ten seconds.
 */

import { createSocket } from 'node:dgram';
import { workerData } from 'node:worker_threads';
import { queryFor } from '@portolan/testing/client/dns-client.ts';
import { LOAD, type LoadPlan } from './load.ts';

// Started by `startLoad` alone.
const { port, address, sockets, name = 'fast.example', counts: memory } = workerData as LoadPlan;
const counts = new Int32Array(memory);
const LOST_AFTER_MILLISECONDS = 10_000;

function keepAsking(): void {
  const socket = createSocket('udp4');
  let id = 0;
  let timer: NodeJS.Timeout | undefined;
  const ask = (): void => {
    if (Atomics.load(counts, LOAD.STOP) === 1) {
      socket.close();
      return;
    }
    id = (id + 1) & 0xffff;
    Atomics.add(counts, LOAD.ASKED, 1);
    socket.send(queryFor(name, id), port, address);
    timer = setTimeout(() => {
      Atomics.add(counts, LOAD.LOST, 1);
      ask();
    }, LOST_AFTER_MILLISECONDS);
  };
  socket.on('message', (message) => {
    if (message.readUInt16BE(0) !== id) return;
    clearTimeout(timer);
    Atomics.add(counts, LOAD.ANSWERED, 1);
    setImmediate(ask);
  });
  ask();
}

for (let index = 0; index < sockets; index++) keepAsking();
