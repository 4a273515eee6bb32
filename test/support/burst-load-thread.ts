/**
 * The entry of the thread of `BurstLoad`.
 */
import { createSocket, type Socket } from 'node:dgram';
import { workerData } from 'node:worker_threads';
import { encodeMessage } from '@portolan/dns/message.ts';
import { rcodeName } from '@portolan/dns/mnemonics.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';
import { type BurstData, COUNT } from './burst-load.ts';

// Started by `BurstLoad` alone.
const { address, port, questions, sockets, burst, every, counts: memory } = workerData as BurstData;
const counts = new Int32Array(memory);
/** A thread of the server may get no processor for seconds on a busy machine; what is lost never comes. */
const LOST_AFTER_MILLISECONDS = 10_000;
/** Wrong answers that are printed, to find their cause. */
const MAX_TOLD = 5;
/** Unanswered at once: fewer than the smallest receive buffer of a kernel holds, so that none of them is dropped there. */
const MAX_UNANSWERED = 200;
const HEADER_OCTETS = 12;

const asked = questions.map(({ name, answer }) => ({
  query: Buffer.from(encodeMessage(makeQuery(name, 'A'))),
  answer,
}));

interface Pending {
  readonly question: number;
  readonly sentAt: number;
}

class PendingQuery {
  readonly socket: Socket;
  readonly #pending = new Map<number, Pending>();
  #id = 0;

  constructor() {
    this.socket = createSocket('udp4');
    this.socket.on('message', (message) => this.#hear(message));
    this.socket.on('error', () => Atomics.add(counts, COUNT.REFUSED, 1));
  }

  get unanswered(): number {
    return this.#pending.size;
  }

  open(): Promise<void> {
    return new Promise((resolve) => this.socket.connect(port, address, resolve));
  }

  ask(question: number): void {
    const query = asked[question]?.query;
    if (query === undefined) return;
    this.#id = (this.#id + 1) & 0xffff;
    const packet = Buffer.from(query);
    packet.writeUInt16BE(this.#id, 0);
    this.#pending.set(this.#id, { question, sentAt: performance.now() });
    Atomics.add(counts, COUNT.ASKED, 1);
    this.socket.send(packet);
  }

  /** Those that have waited too long are the first. */
  countLost(now: number): void {
    for (const [id, { sentAt }] of this.#pending) {
      if (now - sentAt < LOST_AFTER_MILLISECONDS) return;
      this.#pending.delete(id);
      Atomics.add(counts, COUNT.LOST, 1);
    }
  }

  #hear(message: Buffer): void {
    const id = message.readUInt16BE(0);
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (pending === undefined || !isRight(message, pending.question)) {
      if (Atomics.add(counts, COUNT.WRONG, 1) < MAX_TOLD)
        console.log(`wrong answer after ${Math.round(performance.now())} ms: ${message.toString('hex')}`);
      return;
    }
    const microseconds = Math.round((performance.now() - pending.sentAt) * 1000);
    if (microseconds > Atomics.load(counts, COUNT.SLOWEST))
      Atomics.store(counts, COUNT.SLOWEST, microseconds);
    Atomics.add(counts, COUNT.ANSWERED, 1);
  }
}

function isRight(message: Buffer, question: number): boolean {
  const { query, answer } = asked[question] ?? {};
  if (query === undefined || message.length < query.length || (message[2] ?? 0) < 0x80) return false;
  if (message.compare(query, HEADER_OCTETS, query.length, HEADER_OCTETS, query.length) !== 0) return false;
  const rcode = (message[3] ?? 0) & 15;
  if (rcode !== 0 || message.readUInt16BE(6) === 0) return rcodeName(rcode) === answer;
  return message.subarray(-4).join('.') === answer;
}

const pendingQueries = Array.from({ length: sockets }, () => new PendingQuery());
await Promise.all(pendingQueries.map((pending) => pending.open()));
let next = 0;
const timer = setInterval(() => {
  const now = performance.now();
  for (const pending of pendingQueries) pending.countLost(now);
  const isStopping = Atomics.load(counts, COUNT.STOP) === 1;
  if (isStopping && pendingQueries.every(({ unanswered }) => unanswered === 0)) {
    clearInterval(timer);
    for (const { socket } of pendingQueries) socket.close();
  }
  let unanswered = pendingQueries.reduce((sum, pending) => sum + pending.unanswered, 0);
  for (let index = 0; index < burst && !isStopping && unanswered < MAX_UNANSWERED; index += 1) {
    pendingQueries[next % sockets]?.ask(next % asked.length);
    next += 1;
    unanswered += 1;
  }
}, every);
