/**
 * Cut answers against what the writer of messages makes of the whole ones.
 */
import { encodeMessage } from '@portolan/dns/message.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { writeName } from '@portolan/dns/name-wire.ts';
import { CLASS, type Message, type ResourceRecord, TYPE, type WireName } from '@portolan/dns/types.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { replyFromBody } from '../chain/cached-reply.ts';
import { writeAnswerBody } from './answer-body.ts';
import { cutBody } from './cut-body.ts';

const NAME = parseName('many.example.test.');
const QUESTION = { name: NAME, type: TYPE.A, class: CLASS.IN };

function toWireName(name: typeof NAME): WireName {
  const octets = new Uint8Array(256);
  return octets.slice(0, writeName(name, octets, 0)) as WireName;
}

const address = (index: number): ResourceRecord => ({
  name: NAME,
  class: CLASS.IN,
  ttl: 30,
  data: { kind: 'A', address: `10.0.${index >> 8}.${index & 255}` },
});
const target = (index: number): ResourceRecord => ({
  name: parseName(`n${index % 3}.example.test.`),
  class: CLASS.IN,
  ttl: 30,
  data: { kind: 'NS', target: parseName(`s${index}.example.test.`) },
});

/** Header and question. */
const OVERHEAD = 12 + toWireName(NAME).length + 4;

function encode(
  records: Pick<Message, 'answers' | 'authorities' | 'additionals'>,
  limit: number,
  truncated: boolean,
) {
  const header = {
    id: 1,
    response: true,
    opcode: 0,
    authoritative: false,
    truncated,
    recursionDesired: true,
    recursionAvailable: true,
    authenticData: false,
    checkingDisabled: false,
    rcode: 0,
  };
  return encodeMessage({ header, questions: [QUESTION], edns: undefined, ...records }, { limit });
}

it('a response from the cut answer is the one from the whole answer', () => {
  const count = fc.nat({ max: 120 });
  fc.assert(
    fc.property(count, count, count, fc.boolean(), fc.integer({ min: 512, max: 4096 }), (...drawn) => {
      const [answers, authorities, additionals, isOfTargets, limit] = drawn;
      const list = (length: number, make: (index: number) => ResourceRecord) =>
        Array.from({ length }, (_, index) => make(index));
      const records = {
        answers: list(answers, isOfTargets ? target : address),
        authorities: list(authorities, target),
        additionals: list(additionals, address),
      };
      const written = writeAnswerBody(
        { ...QUESTION, name: toKey(NAME) },
        { rcode: 0, authoritative: false, ...records },
      );
      if (written === undefined) throw new Error('too large');
      const { body, isCut } = cutBody(written.body, limit - OVERHEAD, undefined);
      const question = { ...QUESTION, name: toWireName(NAME), dnssecOk: false, checkingDisabled: false };
      const from = (of: typeof body, truncated: boolean) =>
        encode(replyFromBody(question, of, 0, NAME), limit, truncated);
      expect(from(body, isCut)).toEqual(from(written.body, false));
      expect(isCut && ((from(body, isCut)[2] ?? 0) & 2) === 0).toBe(false);
      expect(body.answerCount === 0 || !isCut || body.bytes.length <= limit - OVERHEAD).toBe(true);
    }),
  );
});

it('a rotating set starts where it is asked to', () => {
  const answers = Array.from({ length: 500 }, (_, index) => address(index));
  const records = { answers, authorities: [], additionals: [] };
  const written = writeAnswerBody(
    { ...QUESTION, name: toKey(NAME) },
    { rcode: 0, authoritative: false, ...records },
  );
  if (written === undefined) throw new Error('too large');
  const question = { ...QUESTION, name: toWireName(NAME), dnssecOk: false, checkingDisabled: false };
  for (const start of [0, 1, 499]) {
    const { body, isCut } = cutBody(written.body, 512, () => start);
    expect(isCut).toBe(true);
    const reply = replyFromBody(question, body, 0, NAME);
    expect(reply.answers).toEqual(reply.answers.map((_, index) => address((start + index) % 500)));
    expect(reply.answers.length).toBeLessThan(40);
  }
});
