/**
 * A reader thread of the torture run: looks up names that the writer keeps changing, and checks every answer.
 *
 * Every record of an answer has its version (10.v.v.v), and the writer notes, before and after each change, the versions that
 * a reader may see. So an answer that mixes versions is torn, an answer older than the version published before the question
 * is stale, and a name that existed before and after the question must be found.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import { FIELD, GROUPS, progressWord, type Verdicts, WORDS_PER_NAME } from './torture-plan.ts';

interface Order {
  readonly memory: SharedArrayBuffer;
  readonly notes: SharedArrayBuffer;
  readonly queries: readonly Uint8Array[];
  readonly reader: number;
  readonly seed: number;
}

// Sent by the test beside it.
const order = workerData as Order;
const notes = new Int32Array(order.notes);
const reader = new TableReader(order.memory, order.reader);
const packet = new Uint8Array(2048);
const verdicts: Verdicts = { answers: 0, torn: 0, stale: 0, missing: 0, ghosts: 0, wrong: 0 };
const OPT_LENGTH = 11;
/** Where the socket address of the client lies, behind the answer. */
const CLIENT = 2032;
const AF_INET = 2;
let random = order.seed;

function pick(count: number): number {
  random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
  return random % count;
}

/** The version that all addresses of an answer agree on, or -1. */
function readVersion(size: number, questionEnd: number): number {
  const count = ((packet[6] ?? 0) << 8) | (packet[7] ?? 0);
  if (count === 0) return -1;
  let version = -2;
  for (let index = 0; index < count; index++) {
    const at = questionEnd + index * 16 + 12;
    if (at + 4 > size || packet[at] !== 10) return -1;
    const each = ((packet[at + 1] ?? 0) << 16) | ((packet[at + 2] ?? 0) << 8) | (packet[at + 3] ?? 0);
    if (version !== -2 && each !== version) return -1;
    version = each;
  }
  return version;
}

function askOnce(): void {
  const index = pick(order.queries.length);
  const query = order.queries[index] ?? new Uint8Array();
  const base = 1 + index * WORDS_PER_NAME;
  packet.set(query);
  packet.set([AF_INET, 0, 0, 53, 10, pick(256), 0, 1], CLIENT);
  const before = Atomics.load(notes, base + FIELD.PUBLISHED);
  const removals = Atomics.load(notes, base + FIELD.REMOVALS);
  const size = reader.answer(packet, 0, query.length, CLIENT, 'udp', pick(GROUPS), CLIENT);
  const announced = Atomics.load(notes, base + FIELD.ANNOUNCED);
  const gone = Atomics.load(notes, base + FIELD.REMOVALS) !== removals || (removals & 1) === 1;
  verdicts.answers++;
  const absent = size === -1 || (size > 0 && ((packet[3] ?? 0) & 0x0f) === 3);
  if (absent) {
    if (!gone) verdicts.missing++;
    return;
  }
  if (size <= 0 || ((packet[3] ?? 0) & 0x0f) !== 0) {
    verdicts.wrong++;
    return;
  }
  const version = readVersion(size, query.length - OPT_LENGTH);
  if (version === -1) verdicts.torn++;
  else if (version < before) verdicts.stale++;
  else if (version > announced) verdicts.ghosts++;
}

const progress = progressWord(order.queries.length, order.reader);
reader.setTime(1_000_000);
parentPort?.postMessage('ready');
while (Atomics.load(notes, 0) === 0) {
  reader.enter();
  for (let turn = 0; turn < 64; turn++) askOnce();
  reader.leave();
  Atomics.add(notes, progress, 1);
  Atomics.notify(notes, progress);
}
parentPort?.postMessage(verdicts);
