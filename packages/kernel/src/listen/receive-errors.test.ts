/**
 * A reader whose receive calls fail, as a sandbox makes them.
 */
import { closeSync, openSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { makeQuestionRing } from './question-ring.ts';
import { FAILING_CALLS, makeReaderCounters, readReaderCounters } from './reader-counters.ts';
import { ORDER, ReaderLoop } from './reader-loop.ts';

/** No socket: each call fails. */
function openFile(): number {
  const fd = openSync('/dev/null', 'r');
  onTestFinished(() => closeSync(fd));
  return fd;
}

/** Serves these descriptors until the reader says that it hears nothing. @returns what it said and counted */
function runDeaf(sockets: readonly number[]) {
  const orders = new SharedArrayBuffer(4);
  const counters = makeReaderCounters();
  const reasons: string[] = [];
  const data = {
    table: new SharedArrayBuffer(0),
    reader: 0,
    sockets,
    groups: sockets.map(() => 0),
    clientRules: [],
    proxies: [],
    drops: [],
    packetSize: 512,
    udpSize: 512,
    orders,
    counters,
    ring: makeQuestionRing(4096),
    events: [],
  };
  const messages = {
    reportFault: () => {},
    reportDeafness: (reason: string) => {
      reasons.push(reason);
      Atomics.store(new Int32Array(orders), 0, ORDER.STOP);
    },
    reportFlood: () => {},
    reportHeader: () => {},
    receivePolicy: () => undefined,
  };
  const answers = { enter() {}, leave() {}, setTime() {}, answer: () => 0 };
  new ReaderLoop(data, answers, messages).run();
  return { reasons, counts: readReaderCounters(counters) };
}

it('counts and reports them, and does not spin', () => {
  const began = performance.now();
  const { reasons, counts } = runDeaf([openFile()]);
  expect(reasons).toEqual(['ENOTSOCK']);
  expect(counts).toMatchObject({ receiveErrors: FAILING_CALLS, failing: FAILING_CALLS, packets: 0 });
  // It pauses after each, for 10 ms.
  expect(performance.now() - began).toBeGreaterThan((FAILING_CALLS - 2) * 10);
});

it('does so with several sockets', () => {
  const { reasons } = runDeaf([openFile(), openFile()]);
  expect(reasons).toEqual(['ENOTSOCK']);
});
