import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { AnswerKeeper, HandedAnswer } from '@portolan/kernel/chain/handed-answer.ts';
import { peerUserOf } from '@portolan/kernel/socket/peer.ts';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { CacheHandover, nameOfHandover } from './cache-handover.ts';
import { type HandedRecord, HandedRecordReader, writeRecord } from './handed-records.ts';

let servers = 0;
/** Endpoints unique to this test. */
function makeEndpoints(): readonly string[] {
  servers += 1;
  return [`test-${process.pid}-${servers}:53`];
}

class ListKeeper implements AnswerKeeper {
  readonly adopted: HandedAnswer[] = [];
  readonly #used: readonly HandedAnswer[];
  readonly #unused: readonly HandedAnswer[];

  constructor(used: readonly HandedAnswer[] = [], unused: readonly HandedAnswer[] = []) {
    this.#used = used;
    this.#unused = unused;
  }

  handOver(isUsed: boolean): Iterable<HandedAnswer> {
    return isUsed ? this.#used : this.#unused;
  }

  adopt(answer: HandedAnswer): void {
    if (answer.message[0] === 0xff) throw new Error('not an answer');
    this.adopted.push({ ...answer, message: Uint8Array.from(answer.message) });
  }
}

function answerOf(octet: number, length = 20): HandedAnswer {
  const message = new Uint8Array(length).fill(octet);
  return { kind: 1, dnssecOk: true, checkingDisabled: false, age: octet, lifetime: 300, message };
}

const toShort = ({ age, message }: HandedAnswer) => `${age} ${message[0]} ${message.length}`;

function makeHandover(
  endpoints: readonly string[],
  keepers: Readonly<Record<string, AnswerKeeper>>,
  peerUser = peerUserOf,
) {
  const log = new RecordingLog();
  const clock = new ManualClock();
  const handover = new CacheHandover({
    endpoints,
    log,
    clock,
    peerUser,
    keepers: () => new Map(Object.entries(keepers)),
  });
  onTestFinished(() => handover.stop());
  return { handover, log, clock };
}

it('hands over what both keep, what was used first', async () => {
  const endpoints = makeEndpoints();
  const many = Array.from({ length: 3000 }, (_, index) => answerOf(index % 200, 1000));
  const former = new ListKeeper([answerOf(1), answerOf(2)], [answerOf(3), ...many]);
  makeHandover(endpoints, { resolver: former, gone: new ListKeeper([answerOf(4)]) }).handover.offer();
  const heir = new ListKeeper();
  const { handover, log } = makeHandover(endpoints, { resolver: heir, fresh: new ListKeeper() });
  await handover.inherit();
  expect(heir.adopted.slice(0, 3)).toEqual([answerOf(1), answerOf(2), answerOf(3)]);
  expect(heir.adopted.slice(3).map(toShort)).toEqual(many.map(toShort));
  expect(log.records.at(-1)).toMatchObject({
    message: 'cache taken over',
    fields: { answers: 3003, whole: true },
  });
});

it('gives nothing to another user', async () => {
  const endpoints = makeEndpoints();
  const former = { resolver: new ListKeeper([answerOf(1)]) };
  const other = (process.geteuid?.() ?? 0) + 1;
  const { handover, log } = makeHandover(endpoints, former, () => other);
  handover.offer();
  const heir = new ListKeeper();
  await makeHandover(endpoints, { resolver: heir }).handover.inherit();
  expect(heir.adopted).toEqual([]);
  expect(log.records.at(-1)).toMatchObject({ level: 'warn', message: 'cache not handed over' });
});

it('believes nothing of another user', async () => {
  const endpoints = makeEndpoints();
  makeHandover(endpoints, { resolver: new ListKeeper([answerOf(1)]) }).handover.offer();
  const heir = new ListKeeper();
  const { handover, log } = makeHandover(endpoints, { resolver: heir }, () => undefined);
  await handover.inherit();
  expect(heir.adopted).toEqual([]);
  expect(log.records.at(-1)).toMatchObject({ level: 'warn', message: 'cache not taken over' });
});

it('begins with an empty cache where no process serves', async () => {
  const { handover, log } = makeHandover(makeEndpoints(), { resolver: new ListKeeper() });
  await handover.inherit();
  expect(log.records).toEqual([]);
});

it('offers its cache once the process before has ended', async () => {
  const endpoints = makeEndpoints();
  const first = makeHandover(endpoints, { resolver: new ListKeeper([answerOf(1)]) });
  first.handover.offer();
  const second = makeHandover(endpoints, { resolver: new ListKeeper([answerOf(2)]) });
  second.handover.offer();
  await waitUntil('the second to find the name taken', () => second.clock.pending > 0);
  first.handover.stop();
  const heir = new ListKeeper();
  while (heir.adopted.length === 0) {
    second.clock.advance(1000);
    await makeHandover(endpoints, { resolver: heir }).handover.inherit();
  }
  expect(heir.adopted).toEqual([answerOf(2)]);
});

/** Plays a previous process that acts as a test requires. */
async function pretend(endpoints: readonly string[], act: (socket: Socket) => void): Promise<void> {
  const server = createServer((socket) => {
    onTestFinished(() => void socket.destroy());
    act(socket.on('error', () => {}));
  });
  onTestFinished(() => void server.close());
  server.listen(nameOfHandover(endpoints));
  await once(server, 'listening');
}

it('waits a second for a silent process', async () => {
  const endpoints = makeEndpoints();
  let isConnected = false;
  await pretend(endpoints, () => {
    isConnected = true;
  });
  const { handover, clock, log } = makeHandover(endpoints, { resolver: new ListKeeper() });
  const inherited = handover.inherit();
  await waitUntil('the connection', () => isConnected);
  clock.advance(1000);
  await inherited;
  expect(log.records.at(-1)?.message).toMatch(/^cache (not )?taken over$/);
});

it('keeps what came before what it cannot read', async () => {
  const endpoints = makeEndpoints();
  await pretend(endpoints, (socket) => {
    socket.write(writeRecord({ kind: 'keeper', text: 'resolver' }));
    socket.write(writeRecord({ kind: 'answer', answer: answerOf(1) }));
    socket.write(writeRecord({ kind: 'answer', answer: answerOf(0xff) }));
    socket.write(writeRecord({ kind: 'answer', answer: answerOf(2) }));
    socket.write(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 9));
  });
  const heir = new ListKeeper();
  const { handover, log } = makeHandover(endpoints, { resolver: heir });
  await handover.inherit();
  expect(heir.adopted).toEqual([answerOf(1), answerOf(2)]);
  expect(log.records.at(-1)).toMatchObject({
    level: 'warn',
    message: 'cache not taken over',
    fields: { answers: 2 },
  });
});

const uint32 = fc.nat(0xffff_ffff);
const record: fc.Arbitrary<HandedRecord> = fc.oneof(
  fc.record({ kind: fc.constant('keeper' as const), text: fc.string({ unit: 'grapheme' }) }),
  fc.record({
    kind: fc.constant('answer' as const),
    answer: fc.record({
      kind: fc.nat(255),
      dnssecOk: fc.boolean(),
      checkingDisabled: fc.boolean(),
      age: uint32,
      lifetime: uint32,
      message: fc.uint8Array({ maxLength: 600 }),
    }),
  }),
  fc.constant({ kind: 'end' } as const),
);

it('reads records as they were written, in pieces of any size', () => {
  fc.assert(
    fc.property(fc.array(record), fc.integer({ min: 1, max: 700 }), (records, size) => {
      const octets = Buffer.concat(records.map((each) => writeRecord(each)));
      const reader = new HandedRecordReader();
      const read: HandedRecord[] = [];
      for (let at = 0; at < octets.length; at += size)
        for (const each of reader.read(octets.subarray(at, at + size)))
          read.push(
            each.kind === 'answer'
              ? { ...each, answer: { ...each.answer, message: Uint8Array.from(each.answer.message) } }
              : each,
          );
      expect(read).toEqual(records);
    }),
  );
});
