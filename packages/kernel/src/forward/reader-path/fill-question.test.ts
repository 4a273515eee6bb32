import { LOWER_CASE } from '@portolan/dns/label.ts';
import { encodeName, parseName } from '@portolan/dns/name.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toCachedQuestion } from '../question-key.ts';
import { textOfQuestion } from '../question-text.ts';
import { questionOfFill } from './fill-question.ts';
import { FILL_FLAG, FillConsumer, FillProducer, makeFillRing } from './fill-ring.ts';

const UINT16 = fc.nat(0xffff);

const label = fc.uint8Array({ minLength: 1, maxLength: 63 });
/** A name of any octets, upper-case letters included. */
const wireName = fc
  .array(label, { maxLength: 3 })
  .map((labels) => Uint8Array.from([...labels.flatMap((octets) => [octets.length, ...octets]), 0]));

function makeFill(name: Uint8Array, type: number, dnsClass: number, flags: number): FillConsumer {
  const memory = makeFillRing(1024);
  const packet = Buffer.concat([
    Buffer.alloc(12),
    name,
    Buffer.from([type >> 8, type, dnsClass >> 8, dnsClass]),
  ]);
  const isPushed = new FillProducer(memory).push(
    {
      clients: 1,
      server: 0,
      generation: 0,
      microseconds: 0,
      questionEnd: packet.length,
      flags,
      entryLength: 0,
      policy: 0,
      route: 0,
    },
    packet,
    0,
    packet.length,
    new Uint32Array(),
  );
  const consumer = new FillConsumer(memory);
  expect([isPushed, consumer.read()]).toEqual([true, true]);
  return consumer;
}

it('is the question of the packet, in lower case', () => {
  const flags = fc.constantFrom(0, FILL_FLAG.DNSSEC_OK, FILL_FLAG.CHECKING_DISABLED, 3);
  fc.assert(
    fc.property(wireName, UINT16, UINT16, flags, (name, type, dnsClass, fillFlags) => {
      const { name: lowered, ...rest } = toCachedQuestion(
        questionOfFill(makeFill(name, type, dnsClass, fillFlags)),
      );
      expect(Buffer.from(lowered).equals(name.map((octet) => LOWER_CASE[octet] ?? 0))).toBe(true);
      expect(rest).toEqual({
        type,
        class: dnsClass,
        dnssecOk: (fillFlags & FILL_FLAG.DNSSEC_OK) !== 0,
        checkingDisabled: (fillFlags & FILL_FLAG.CHECKING_DISABLED) !== 0,
      });
    }),
  );
});

it('tells questions apart by each of their parts', () => {
  const question = {
    name: encodeName(parseName('a.example.')),
    type: 1,
    class: 1,
    dnssecOk: false,
    checkingDisabled: false,
  };
  const others = [
    { ...question, name: encodeName(parseName('b.example.')) },
    { ...question, type: 256 },
    { ...question, class: 3 },
    { ...question, dnssecOk: true },
    { ...question, checkingDisabled: true },
  ];
  expect(new Set([question, ...others].map(textOfQuestion)).size).toBe(6);
});
