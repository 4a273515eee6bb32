import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import { type Message, OPCODE } from '@portolan/dns/types.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Outstanding, type OutstandingQuery } from './outstanding.ts';
import { type ForwardQuestion, writeQuery } from './query-message.ts';

const QUESTION: ForwardQuestion = {
  name: parseName('wWw.example.'),
  type: 65,
  class: 1,
  dnssecOk: true,
  checkingDisabled: true,
  recursionDesired: true,
};

interface Waiting extends OutstandingQuery {
  readonly seen: (Message | string)[];
}

function waiting(): Waiting {
  const seen: (Message | string)[] = [];
  const events = {
    replied: (reply: Message) => void seen.push(reply),
    heard: () => {},
    failed: (code: string) => void seen.push(code),
  };
  return { query: writeQuery(QUESTION, 1232), events, id: 0, seen };
}

const replyTo = (packet: Uint8Array): Message => {
  const query = decodeMessage(packet);
  return { ...query, header: { ...query.header, response: true } };
};

describe('writeQuery', () => {
  it('writes what our own reader reads', () => {
    const name = fc.constantFrom(
      '.',
      'www.example.',
      `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}.`,
    );
    const number = fc.integer({ min: 0, max: 0xffff });
    fc.assert(
      fc.property(
        name,
        number,
        number,
        fc.option(number, { nil: undefined }),
        fc.boolean(),
        fc.boolean(),
        fc.boolean(),
        (text, type, dnsClass, udpSize, dnssecOk, checkingDisabled, recursionDesired) => {
          const question = {
            name: parseName(text),
            type,
            class: dnsClass,
            dnssecOk,
            checkingDisabled,
            recursionDesired,
          };
          const { octets, questionEnd, hasEdns } = writeQuery(question, udpSize);
          const message = decodeMessage(octets);
          expect(message.questions).toEqual([{ name: question.name, type, class: dnsClass }]);
          expect(message.header).toMatchObject({
            id: 0,
            response: false,
            opcode: 0,
            checkingDisabled,
            recursionDesired,
          });
          expect(message.edns).toEqual(
            udpSize === undefined
              ? undefined
              : { version: 0, udpSize, dnssecOk, extendedRcode: 0, options: [] },
          );
          expect(hasEdns).toBe(udpSize !== undefined);
          expect(questionEnd).toBe(octets.length - (hasEdns ? 11 : 0));
        },
      ),
    );
  });
});

describe('Outstanding', () => {
  it('gives each query an id of its own and takes one reply for it', () => {
    const outstanding = new Outstanding<Waiting>({ strange: 0, otherQuestion: 0, otherCase: 0 });
    const entries = Array.from({ length: 500 }, waiting);
    const packets = entries.map((entry) => outstanding.add(entry) ?? new Uint8Array(0));
    expect(new Set(entries.map(({ id }) => id)).size).toBe(500);
    for (const packet of packets) {
      const reply = encodeMessage(replyTo(packet));
      outstanding.receive(reply, 0, reply.length, false);
      outstanding.receive(reply, 0, reply.length, false);
    }
    expect(entries.every(({ seen }) => seen.length === 1)).toBe(true);
    expect(outstanding.size).toBe(0);
  });

  it('lets a cancelled query take no other with it', () => {
    const outstanding = new Outstanding<Waiting>({ strange: 0, otherQuestion: 0, otherCase: 0 });
    const first = waiting();
    const packet = outstanding.add(first) ?? new Uint8Array(0);
    outstanding.remove(first);
    const second = waiting();
    outstanding.add(second);
    first.id = second.id;
    outstanding.remove(first);
    expect(outstanding.size).toBe(1);
    const reply = encodeMessage({ ...replyTo(packet), header: { ...replyTo(packet).header, id: second.id } });
    expect(outstanding.receive(reply, 0, reply.length, false)).toBe(second);
  });

  it('takes a reply to NOTIFY, and none of another opcode', () => {
    const dropped = { strange: 0, otherQuestion: 0, otherCase: 0 };
    const outstanding = new Outstanding<Waiting>(dropped);
    const notify = waiting();
    notify.query.octets[2] = OPCODE.NOTIFY << 3;
    const packet = outstanding.add(notify) ?? new Uint8Array(0);
    const { header, ...others } = replyTo(packet);
    const standard = encodeMessage({ ...others, header: { ...header, opcode: OPCODE.QUERY } });
    expect(outstanding.receive(standard, 0, standard.length, false)).toBeUndefined();
    expect(dropped.strange).toBe(1);
    const reply = encodeMessage({ ...others, header });
    expect(outstanding.receive(reply, 0, reply.length, false)).toBe(notify);
    expect(notify.seen).toMatchObject([{ header: { opcode: OPCODE.NOTIFY } }]);
  });

  it('takes a packet that was cut for a truncated reply', () => {
    const outstanding = new Outstanding<Waiting>({ strange: 0, otherQuestion: 0, otherCase: 0 });
    const entry = waiting();
    const packet = outstanding.add(entry) ?? new Uint8Array(0);
    const reply = encodeMessage(replyTo(packet)).subarray(0, -5);
    outstanding.receive(reply, 0, reply.length, true);
    expect(entry.seen).toMatchObject([{ header: { truncated: true }, answers: [] }]);
  });

  it('neither throws nor takes anything whose id and question are not those of the query', () => {
    const octets = fc.uint8Array({ maxLength: 120 });
    const change = fc.record({ at: fc.nat({ max: 45 }), octet: fc.nat({ max: 255 }) });
    fc.assert(
      fc.property(octets, fc.array(change, { maxLength: 4 }), fc.boolean(), (noise, changes, isNoise) => {
        const dropped = { strange: 0, otherQuestion: 0, otherCase: 0 };
        const outstanding = new Outstanding<Waiting>(dropped);
        const entry = waiting();
        const packet = outstanding.add(entry) ?? new Uint8Array(0);
        const reply = isNoise ? noise : encodeMessage(replyTo(packet));
        for (const { at, octet } of isNoise ? [] : changes) if (at < reply.length) reply[at] = octet;
        const padded = Uint8Array.of(9, 9, 9, ...reply, 9, 9);
        const isTaken = outstanding.receive(padded, 3, reply.length, false) !== undefined;
        expect(entry.seen.length).toBe(isTaken ? 1 : 0);
        expect(dropped.strange + dropped.otherQuestion).toBe(isTaken ? 0 : 1);
        if (!isTaken) return;
        const same = (from: number, to: number) =>
          Buffer.from(reply.subarray(from, to)).toString('latin1').toLowerCase() ===
          Buffer.from(packet.subarray(from, to)).toString('latin1').toLowerCase();
        expect(reply[0] === packet[0] && reply[1] === packet[1]).toBe(true);
        expect(same(12, entry.query.questionEnd)).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });
});
