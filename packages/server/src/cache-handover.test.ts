import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { AnswerKeeper, HandoverAnswer } from '@portolan/kernel/chain/handover-answer.ts';
import { findPeerUser } from '@portolan/kernel/socket/peer.ts';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { CacheHandover, nameOfHandover } from './cache-handover.ts';
import { HandoverReader, type HandoverRecord, writeRecord } from './handover-format.ts';

let servers = 0;
/** Endpoints unique to this test. */
function makeEndpoints(): readonly string[] {
  servers += 1;
  return [`test-${process.pid}-${servers}:53`];
}

class ListKeeper implements AnswerKeeper {
  readonly adopted: HandoverAnswer[] = [];
  readonly #used: readonly HandoverAnswer[];
  readonly #unused: readonly HandoverAnswer[];

  constructor(used: readonly HandoverAnswer[] = [], unused: readonly HandoverAnswer[] = []) {
    this.#used = used;
    this.#unused = unused;
  }

  handOver(isUsed: boolean): Iterable<HandoverAnswer> {
    return isUsed ? this.#used : this.#unused;
  }

  adopt(answer: HandoverAnswer): void {
    if (answer.message[0] === 0xff) throw new Error('not an answer');
    this.adopted.push({ ...answer, message: Uint8Array.from(answer.message) });
  }
}

function makeAnswer(octet: number, length = 20): HandoverAnswer {
  const message = new Uint8Array(length).fill(octet);
  return { kind: 1, dnssecOk: true, checkingDisabled: false, age: octet, lifetime: 300, message };
}

const toShort = ({ age, message }: HandoverAnswer) => `${age} ${message[0]} ${message.length}`;

function makeHandover(
  endpoints: readonly string[],
  keepers: Readonly<Record<string, AnswerKeeper>>,
  peerUser = findPeerUser,
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
  const many = Array.from({ length: 3000 }, (_, index) => makeAnswer(index % 200, 1000));
  const former = new ListKeeper([makeAnswer(1), makeAnswer(2)], [makeAnswer(3), ...many]);
  makeHandover(endpoints, { resolver: former, gone: new ListKeeper([makeAnswer(4)]) }).handover.offer();
  const heir = new ListKeeper();
  const { handover, log } = makeHandover(endpoints, { resolver: heir, fresh: new ListKeeper() });
  await handover.inherit();
  expect(heir.adopted.slice(0, 3)).toEqual([makeAnswer(1), makeAnswer(2), makeAnswer(3)]);
  expect(heir.adopted.slice(3).map(toShort)).toEqual(many.map(toShort));
  expect(log.records.at(-1)).toMatchObject({
    message: 'cache taken over',
    fields: { answers: 3003, whole: true },
  });
});

it('gives nothing to another user', async () => {
  const endpoints = makeEndpoints();
  const former = { resolver: new ListKeeper([makeAnswer(1)]) };
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
  makeHandover(endpoints, { resolver: new ListKeeper([makeAnswer(1)]) }).handover.offer();
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
  const first = makeHandover(endpoints, { resolver: new ListKeeper([makeAnswer(1)]) });
  first.handover.offer();
  const second = makeHandover(endpoints, { resolver: new ListKeeper([makeAnswer(2)]) });
  second.handover.offer();
  await waitUntil('the second to find the name taken', () => second.clock.pending > 0);
  first.handover.stop();
  const heir = new ListKeeper();
  while (heir.adopted.length === 0) {
    second.clock.advance(1000);
    await makeHandover(endpoints, { resolver: heir }).handover.inherit();
  }
  expect(heir.adopted).toEqual([makeAnswer(2)]);
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
    socket.write(writeRecord({ kind: 'answer', answer: makeAnswer(1) }));
    socket.write(writeRecord({ kind: 'answer', answer: makeAnswer(0xff) }));
    socket.write(writeRecord({ kind: 'answer', answer: makeAnswer(2) }));
    socket.write(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 9));
  });
  const heir = new ListKeeper();
  const { handover, log } = makeHandover(endpoints, { resolver: heir });
  await handover.inherit();
  expect(heir.adopted).toEqual([makeAnswer(1), makeAnswer(2)]);
  expect(log.records.at(-1)).toMatchObject({
    level: 'warn',
    message: 'cache not taken over',
    fields: { answers: 2 },
  });
});

const uint32 = fc.nat(0xffff_ffff);
const record: fc.Arbitrary<HandoverRecord> = fc.oneof(
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
      const reader = new HandoverReader();
      const read: HandoverRecord[] = [];
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
