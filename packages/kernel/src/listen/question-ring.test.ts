import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ENVELOPE, hashClient } from '../socket/envelope.ts';
import { makeQuestionRing, QuestionConsumer, QuestionProducer } from './question-ring.ts';

/** An envelope whose fields, the client's address included, are the packet's number. */
const batch = {
  writeEnvelope(index: number, target: Uint8Array, at: number) {
    target.fill(index & 0xff, at, at + ENVELOPE.OCTETS);
    target[at + ENVELOPE.NAME_LENGTH] = 16;
  },
};
const RECORD = 32 + ENVELOPE.OCTETS;
/** When packets arrive. */
const ARRIVED = 12_345.678;

function makeEnvelope(index: number): Uint8Array {
  const envelope = new Uint8Array(ENVELOPE.OCTETS);
  batch.writeEnvelope(index, envelope, 0);
  return envelope;
}

interface Pushed {
  readonly socket: number;
  readonly index: number;
  readonly query: Uint8Array;
}

/** Pushes a question whose query lies somewhere in a packet. */
function push(producer: QuestionProducer, { socket, index, query }: Pushed): boolean {
  const packets = Uint8Array.of(9, 9, 9, ...query, 9);
  return producer.push(socket, batch, index, packets, 3, query.length, ARRIVED);
}

/** The group of clients that a packet's client is in. */
function computeGroup(memory: SharedArrayBuffer, index: number): number {
  return hashClient(makeEnvelope(index), 0, new Int32Array(memory)[4] ?? 0) & 1023;
}

/** The oldest question, its octets in memory of their own. */
function take(consumer: QuestionConsumer) {
  const room = {
    octets: new Uint8Array(ENVELOPE.OCTETS + 50),
    socket: 0,
    length: 0,
    arrived: 0,
    about: { ticket: 0, server: 0, elapsed: 0 },
    enlarge(octets: number) {
      this.octets = new Uint8Array(octets);
    },
  };
  if (!consumer.take(room)) return undefined;
  expect(room.arrived).toBe(ARRIVED);
  const { octets, socket, length } = room;
  const end = ENVELOPE.OCTETS + length;
  return { socket, envelope: octets.slice(0, ENVELOPE.OCTETS), query: octets.slice(ENVELOPE.OCTETS, end) };
}

describe('the ring of questions', () => {
  it('gives out what was put in, in order, and counts what did not fit', () => {
    const question = fc.record({
      socket: fc.nat(3),
      index: fc.nat(63),
      query: fc.uint8Array({ minLength: 12, maxLength: 300 }),
    });
    const step = fc.oneof(question, fc.constant('take' as const));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const memory = makeQuestionRing(1024);
        const producer = new QuestionProducer(memory);
        const consumer = new QuestionConsumer(memory);
        const expected: Pushed[] = [];
        let dropped = 0;
        for (const one of steps) {
          if (one === 'take') {
            const wanted = expected.shift();
            const taken = take(consumer);
            expect(taken?.query).toEqual(wanted?.query);
            expect(taken?.socket).toBe(wanted?.socket);
            if (wanted !== undefined) expect(taken?.envelope).toEqual(makeEnvelope(wanted.index));
            continue;
          }
          push(producer, one);
          if (consumer.countDropped() === dropped) expected.push(one);
          dropped = consumer.countDropped();
        }
        for (const wanted of expected) expect(take(consumer)?.query).toEqual(wanted.query);
        expect(take(consumer)).toBeUndefined();
      }),
    );
  });

  it('holds as many as there is room for, again and again', () => {
    const memory = makeQuestionRing(2048);
    const producer = new QuestionProducer(memory);
    const consumer = new QuestionConsumer(memory);
    const query = new Uint8Array(2048 / 8 - RECORD);
    for (let round = 1; round <= 100; round++) {
      for (let count = 0; count < 9; count++) push(producer, { socket: 0, index: count, query });
      expect(consumer.countDropped()).toBe(round);
      for (let count = 0; count < 8; count++) expect(take(consumer)).toBeDefined();
      expect(take(consumer)).toBeUndefined();
    }
  });

  it('keeps a part for others, however much one client asks', () => {
    const flood = fc.integer({ min: 1, max: 5 });
    const size = fc.integer({ min: 12, max: 100 });
    fc.assert(
      fc.property(flood, size, fc.array(fc.nat(40), { maxLength: 20 }), (floods, octets, taken) => {
        const memory = makeQuestionRing(8192);
        const producer = new QuestionProducer(memory);
        const consumer = new QuestionConsumer(memory);
        const query = new Uint8Array(octets);
        const flooding = Array.from({ length: floods }, (_, index) => computeGroup(memory, index));
        for (const [round, count] of [...taken, 0].entries()) {
          for (let turn = 0; turn < 200; turn++) push(producer, { socket: 0, index: turn % floods, query });
          const before = consumer.countDropped();
          const index = 200 + round;
          push(producer, { socket: 0, index, query });
          // Clients of one group share its part; the seed decides who shares a group.
          if (!flooding.includes(computeGroup(memory, index))) expect(consumer.countDropped()).toBe(before);
          for (let turn = 0; turn <= count; turn++) take(consumer);
        }
      }),
    );
  });

  it('gives one client half of it', () => {
    const memory = makeQuestionRing(16_384);
    const producer = new QuestionProducer(memory);
    const consumer = new QuestionConsumer(memory);
    const query = new Uint8Array(256 - RECORD);
    for (let turn = 0; turn < 1000; turn++) push(producer, { socket: 0, index: 1, query });
    expect(consumer.countDropped()).toBe(1000 - 32);
    while (take(consumer) !== undefined);
    push(producer, { socket: 0, index: 1, query });
    expect(consumer.countDropped()).toBe(1000 - 32);
  });

  it('wakes a sleeper once', () => {
    const memory = makeQuestionRing(1024);
    const producer = new QuestionProducer(memory);
    const consumer = new QuestionConsumer(memory);
    const question = { socket: 0, index: 1, query: new Uint8Array(12) };
    expect(push(producer, question)).toBe(false);
    expect(consumer.sleep()).toBe(false);
    take(consumer);
    expect(consumer.sleep()).toBe(true);
    expect([push(producer, question), push(producer, question)]).toEqual([true, false]);
  });
});
