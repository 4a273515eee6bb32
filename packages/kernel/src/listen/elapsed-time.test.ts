/**
 * The times that listeners report for answers: from receiving the packets to sending the answers.
 */
import { createSocket } from 'node:dgram';
import { expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../base/log.ts';
import { closeDescriptor } from '../socket/descriptor.ts';
import { openUdpSocket } from '../socket/udp-socket.ts';
import { MessageAnswers } from './message-answers.ts';
import { makeQuestionRing } from './question-ring.ts';
import { makeReaderCounters } from './reader-counters.ts';
import { ORDER, ReaderLoop } from './reader-loop.ts';
import type { InstantAnswers } from './types.ts';

const LOOPBACK = { address: '127.0.0.1', port: 0 };

/** Answers slowly, with the query itself. */
class SlowAnswers implements InstantAnswers {
  readonly told: (string | number)[] = [];
  readonly clock = { now: () => this.#now, monotonic: () => this.#now, after: () => ({ cancel: () => {} }) };
  #now = 1_000;

  enter(): void {
    this.told.push('enter');
  }
  setTime(milliseconds: number): void {
    this.told.push(milliseconds);
  }
  answer(_packet: Uint8Array, _start: number, length: number): number {
    this.#now += 7;
    return length;
  }
  leave(milliseconds: number): void {
    this.told.push('leave', milliseconds);
  }
}

it('a batch', async () => {
  const socket = openUdpSocket(LOOPBACK, 5_000);
  onTestFinished(() => closeDescriptor(socket.fd));
  const client = createSocket('udp4');
  onTestFinished(() => void client.close());
  const answered = new Promise((resolve) => client.once('message', resolve));
  const { address, port } = socket.endpoint;
  await new Promise((resolve) => client.send(new Uint8Array(20), port, address, resolve));
  const answers = new SlowAnswers();
  const data = {
    table: new SharedArrayBuffer(0),
    reader: 0,
    sockets: [socket.fd],
    groups: [0],
    clientRules: [],
    proxies: [],
    drops: [],
    packetSize: 512,
    udpSize: 512,
    // It ends after its first batch.
    orders: new SharedArrayBuffer(4),
    counters: makeReaderCounters(),
    ring: makeQuestionRing(4096),
    events: [],
  };
  Atomics.store(new Int32Array(data.orders), 0, ORDER.STOP);
  const messages = {
    reportFault: () => {},
    reportDeafness: () => {},
    reportFlood: () => {},
    reportHeader: () => {},
    receivePolicy: () => undefined,
  };
  new ReaderLoop(data, answers, messages, answers.clock).run();
  await answered;
  expect(answers.told).toEqual(['enter', 1_000, 'leave', 7]);
});

it('a single message', () => {
  const answers = new SlowAnswers();
  const dependencies = { clock: answers.clock, log: silentLog, udpSize: 1232 };
  const messages = new MessageAnswers(answers, async () => undefined, dependencies);
  const client = { ...LOOPBACK, transport: 'tcp' } as const;
  expect(messages.answer(new Uint8Array(20), client).kind).toBe('response');
  expect(answers.told).toEqual(['enter', 1_000, 'leave', 7]);
});
