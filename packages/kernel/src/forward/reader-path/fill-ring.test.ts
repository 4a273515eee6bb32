import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FillConsumer, FillProducer, makeFillRing } from './fill-ring.ts';

const ENTRY = Uint32Array.from({ length: 25 }, (_, word) => word + 1);

const fill = fc.record({
  clients: fc.integer({ min: 1, max: 0xffff }),
  server: fc.nat(0xffff_ffff),
  generation: fc.integer(),
  microseconds: fc.nat(0xffff_ffff),
  questionEnd: fc.nat(400),
  flags: fc.nat(7),
  entryLength: fc.nat(25).map((words) => words * 4),
  policy: fc.nat(0xffff_ffff),
  route: fc.nat(0xffff),
});

it('gives out what was put in, in order, and refuses what does not fit', () => {
  const packet = fc.uint8Array({ minLength: 12, maxLength: 200 });
  const step = fc.oneof(fc.record({ fill, packet }), fc.constant('take' as const));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const memory = makeFillRing(2048);
      const producer = new FillProducer(memory);
      const consumer = new FillConsumer(memory);
      const expected: { fill: object; packet: Uint8Array; end: number }[] = [];
      const take = () => {
        const wanted = expected.shift();
        expect(consumer.read()).toBe(wanted !== undefined);
        if (wanted === undefined) return;
        const { octets, start, length } = consumer;
        expect(consumer).toMatchObject(wanted.fill);
        expect(octets.slice(start, start + length)).toEqual(wanted.packet);
        const { words, entryWord, entryLength } = consumer;
        expect(words.slice(entryWord, entryWord + entryLength / 4)).toEqual(ENTRY.slice(0, entryLength / 4));
        expect(producer.isTaken(wanted.end)).toBe(false);
        consumer.release();
        expect(producer.isTaken(wanted.end)).toBe(true);
      };
      for (const each of steps) {
        if (each === 'take') take();
        else if (producer.push(each.fill, Uint8Array.of(9, ...each.packet), 1, each.packet.length, ENTRY)) {
          const { packetAt: at, end } = producer;
          // Equal questions are answered from this record.
          expect(producer.octets.slice(at, at + each.packet.length)).toEqual(each.packet);
          expected.push({ ...each, end });
        } else expect(expected.length).toBeGreaterThan(2);
      }
      while (expected.length > 0) take();
      take();
    }),
  );
});

it('wakes a sleeper once, and one who looks at times when it is half full', () => {
  const memory = makeFillRing(1024);
  const producer = new FillProducer(memory);
  const consumer = new FillConsumer(memory);
  const one = {
    clients: 1,
    server: 1,
    generation: 0,
    microseconds: 0,
    questionEnd: 20,
    flags: 0,
    entryLength: 0,
    policy: 1,
    route: 1,
  };
  const push = () => {
    producer.push(one, new Uint8Array(88), 0, 88, ENTRY);
    return producer.needsWaking();
  };
  // The ring has not been read yet.
  expect([push(), push(), push(), push()]).toEqual([true, false, false, false]);
  expect(push()).toBe(true);
  while (consumer.read()) consumer.release();
  expect([consumer.sleep(), push(), consumer.sleep()]).toEqual([true, true, false]);
});
