import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { RecordingLog } from '../base/testing/recording-log.ts';
import { makeQuestionRing } from './question-ring.ts';
import { makeReaderCounters } from './reader-counters.ts';
import { UdpReader } from './udp-reader.ts';

it('a reader that the system gives no thread tries again later', async () => {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const workers: EventEmitter[] = [];
  let isShort = false;
  const startThread = () => {
    if (isShort) throw new Error('cannot start a thread: EAGAIN');
    const worker = new EventEmitter();
    workers.push(worker);
    return worker as Worker; // Only its events are used.
  };
  const data = {
    table: undefined,
    reader: 0,
    sockets: [],
    groups: [],
    clientRules: [],
    proxies: [],
    drops: [],
    packetSize: 512,
    udpSize: 512,
    orders: new SharedArrayBuffer(4),
    counters: makeReaderCounters(),
    events: [],
    ring: makeQuestionRing(4096),
  };
  const events = { onQuestions() {}, onDead() {}, onChange() {}, onRestart() {} };
  const reader = new UdpReader(data, [], startThread, events, { clock, log });
  workers[0]?.emit('message', { kind: 'ready' });
  await reader.ready;
  isShort = true;
  workers[0]?.emit('exit', 1);
  clock.advance(10_000);
  expect(log.records.map(({ message }) => message)).toContain('reader thread not restarted');
  expect([reader.isAlive, reader.isPausing, workers.length]).toEqual([false, true, 1]);
  isShort = false;
  clock.advance(10_000);
  workers[1]?.emit('message', { kind: 'ready' });
  expect(reader.isAlive).toBe(true);
});
