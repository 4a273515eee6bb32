/**
 * The entry of a thread that asks a server for random names from one address, and from another one question at a time. One
 * thread does both, so that it knows how many answers of the flood came before each of the other client's.
 *
 * Waits are measured by the server's processor time: other programs of the machine make an answer late, but not that. The flood pauses
 * while the server's receive buffer fills up, which a server without a processor would do: what the kernel drops says nothing of it.
 */
import { readFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { encodeMessage } from '@portolan/dns/message.ts';
import { encodeSocketAddress } from '@portolan/kernel/socket/addresses.ts';
import { bindDescriptor, openDescriptor, setOption } from '@portolan/kernel/socket/descriptor.ts';
import { libc } from '@portolan/kernel/socket/libc.ts';
import { MSG_DONTWAIT, SO_RCVBUF, SOCK_DGRAM, SOL_SOCKET } from '@portolan/kernel/socket/linux.ts';
import { MessageRow } from '@portolan/kernel/socket/message-row.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';
import { readThreadTimes, sumTimes } from '../../bench/processor-time.ts';
import { type FloodPlan, MAX_ASKED, NUMBERS, type ThreadData, WORD } from './flood-plan.ts';

const ROW = 16;
const ANSWERS = 64;
const ANSWER_OCTETS = 512;
const LABEL_AT = 13;
const LABEL_OCTETS = 10;
const RECEIVE_BUFFER = 2 ** 21;
/** How often it looks for answers. */
const PAUSE_MILLISECONDS = 0.2;
/** From an answer to the next question of the other client, and how long it waits for one. */
const REST_MILLISECONDS = 10;
const DEADLINE_MILLISECONDS = 10_000;
/** Octets of the receive buffer, of some 700 for each packet: a batch of a reader. */
const MAX_QUEUED = 50_000;

// Started by `CountingThread` alone.
const { plan, words, asked: askedMemory } = workerData as ThreadData<FloodPlan>;
const { port, pid, domain, type, perSecond, otherDomain } = plan;
const counts = new Int32Array(words);
const asked = new Float64Array(askedMemory);

/** A socket of one client, connected to the server. */
class Client {
  readonly fd: number;
  readonly row: MessageRow;
  readonly #answers = new MessageRow(ANSWERS, ANSWER_OCTETS, 'connected');
  /** The id of the answer received last. */
  lastId = -1;

  constructor(address: string, size: number) {
    const source = { address, port: 0 };
    this.fd = bindDescriptor(openDescriptor(source, SOCK_DGRAM), source, 'udp', 'alone').fd;
    setOption(this.fd, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER);
    const server = encodeSocketAddress({ address: '127.0.0.1', port });
    libc().connect(this.fd, server, server.length);
    this.row = new MessageRow(size, 192, 'connected');
  }

  /** Writes queries for a domain into the row. */
  prepare(suffix: string): void {
    for (let seat = 0; seat < this.row.size; seat++) {
      const packet = encodeMessage(makeQuery(`${'x'.repeat(LABEL_OCTETS)}.${suffix}`, type));
      this.row.octets.set(packet, this.row.packetAt(seat));
      this.row.setLength(seat, packet.length);
    }
  }

  /** @returns how many answers there were */
  receive(): number {
    const row = this.#answers;
    let sum = 0;
    for (;;) {
      for (let seat = 0; seat < ANSWERS; seat++) row.setLength(seat, ANSWER_OCTETS);
      const count = row.receive(this.fd, MSG_DONTWAIT);
      if (count <= 0) return sum;
      const at = row.packetAt(count - 1);
      this.lastId = ((row.octets[at] ?? 0) << 8) | (row.octets[at + 1] ?? 0);
      sum += count;
      if (count < ANSWERS) return sum;
    }
  }

  /** Sends the row with new labels. @returns how many were sent */
  send(first: number): number {
    const { row } = this;
    for (let seat = 0; seat < row.size; seat++) {
      const label = RUN + (first + seat).toString(36).padStart(LABEL_OCTETS - RUN.length, '0');
      row.octets.set(Buffer.from(label, 'latin1'), row.packetAt(seat) + LABEL_AT);
      row.octets[row.packetAt(seat)] = first >> 8;
      row.octets[row.packetAt(seat) + 1] = first;
    }
    return row.size - row.send(this.fd, row.size, { skips: () => true });
  }
}

const RUN = Math.random().toString(36).slice(2, 6);
const flood = new Client('127.0.0.66', ROW);
const other = new Client('127.0.0.77', 1);
flood.prepare(domain);
other.prepare(otherDomain);

let sent = 0;
let answered = 0;
/** The question of the other client: its number, when it was sent, and the processor time and answers of the flood until then. */
let question = 0;
let askedAt = 0;
let usedBefore = 0;
let before = 0;
let nextAt = performance.now() + 100;
const began = performance.now();

function note(milliseconds: number, now: number): void {
  asked[question * NUMBERS] = milliseconds;
  asked[question * NUMBERS + 1] = answered - before;
  question += 1;
  Atomics.store(counts, WORD.ASKED, question);
  nextAt = now + REST_MILLISECONDS;
  askedAt = 0;
}

/** Milliseconds of processor time that the server has used. */
function readUsed(): number {
  return sumTimes(readThreadTimes(pid)) / 1000;
}

const endpoint = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;

/** Whether packets wait for the server. */
function isQueueing(): boolean {
  for (const line of readFileSync('/proc/net/udp', 'latin1').split('\n')) {
    const [, local = '', , , queues = ''] = line.trim().split(/\s+/);
    if (local.endsWith(endpoint) && Number.parseInt(queues.split(':')[1] ?? '', 16) > MAX_QUEUED) return true;
  }
  return false;
}

/** How much of the flood was not sent in its time. */
let skipped = 0;

function serveOther(now: number): void {
  if (askedAt !== 0) {
    if (other.receive() > 0 && other.lastId === (question & 0xffff)) note(readUsed() - usedBefore, now);
    else if (now - askedAt > DEADLINE_MILLISECONDS) note(Number.POSITIVE_INFINITY, now);
  } else if (now >= nextAt && question < MAX_ASKED) {
    answered += flood.receive();
    [askedAt, before, usedBefore] = [now, answered, readUsed()];
    other.send(question);
  }
}

while (Atomics.load(counts, WORD.STOP) === 0) {
  const now = performance.now();
  // First, since answers of the flood that came after this one do not count.
  serveOther(now);
  answered += flood.receive();
  Atomics.store(counts, WORD.ANSWERED, answered);
  const due = ((now - began) / 1000) * perSecond - skipped;
  if (sent < due && isQueueing()) {
    skipped += due - sent;
    Atomics.wait(counts, WORD.STOP, 0, PAUSE_MILLISECONDS);
  } else if (sent < due) {
    sent += flood.send(sent);
    Atomics.store(counts, WORD.SENT, sent);
  } else Atomics.wait(counts, WORD.STOP, 0, PAUSE_MILLISECONDS);
}
for (const { fd } of [flood, other]) libc().close(fd);
