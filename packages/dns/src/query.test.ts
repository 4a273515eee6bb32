import { describe, expect, it } from 'vitest';
import { decodeMessage, encodeMessage } from './message.ts';
import { minimalAnyRecord } from './minimal-any.ts';
import { parseName } from './name.ts';
import { parseQuery, respond } from './query.ts';
import { CLASS, RCODE, TYPE } from './types.ts';

const QUESTION = '03576562 076578616d706c65 00 0001 0001';
const OPT = '00 0029 04d0 00008000 0000';

const packet = (...parts: string[]) =>
  Uint8Array.from(Buffer.from(parts.join('').replaceAll(' ', ''), 'hex'));
const question = { name: parseName('Web.example'), type: TYPE.A, class: CLASS.IN };
const TSIG = '00 00fa 00ff 00000000 0018 04686d6163 00 0000000000000000 0002 abcd 0001 0000 0000';
const SOA = '00 0006 0001 00000000 0016 00 00 00000001 00000002 00000003 00000004 00000005';

describe('parseQuery', () => {
  it('reads a query with EDNS', () => {
    expect(parseQuery(packet('1234 0110 0001 0000 0000 0001', QUESTION, OPT))).toEqual({
      kind: 'query',
      header: {
        id: 0x1234,
        response: false,
        opcode: 0,
        authoritative: false,
        truncated: false,
        recursionDesired: true,
        recursionAvailable: false,
        authenticData: false,
        checkingDisabled: true,
        rcode: 0,
      },
      authorities: [],
      question,
      edns: { version: 0, udpSize: 1232, dnssecOk: true, extendedRcode: 0, options: [] },
    });
  });

  it.each([
    ['a signature', packet('1234 0100 0001 0000 0000 0001', QUESTION, TSIG)],
    ['an SOA in the authority section (IXFR)', packet('1234 0100 0001 0000 0001 0000', QUESTION, SOA)],
    [
      'an unknown EDNS option',
      packet('1234 0100 0001 0000 0000 0001', QUESTION, '000029 04d0 00000000 0006 fde9 0002 abcd'),
    ],
  ])('reads a query with %s', (_, bytes) => {
    expect(parseQuery(bytes)).toMatchObject({ kind: 'query', question });
  });

  it.each([
    ['two OPT records', RCODE.FORMERR, packet('1234 0100 0001 0000 0000 0002', QUESTION, OPT, OPT)],
    ['OPT below the root', RCODE.FORMERR, packet('1234 0100 0001 0000 0000 0001', QUESTION, '0161', OPT)],
    ['OPT among the authorities', RCODE.FORMERR, packet('1234 0100 0001 0000 0001 0000', QUESTION, OPT)],
    ['octets behind its end', RCODE.FORMERR, packet('1234 0100 0001 0000 0000 0000', QUESTION, 'ff')],
    ['an answer', RCODE.FORMERR, packet('1234 0100 0001 0001 0000 0000', QUESTION, SOA)],
    ['fewer records than it says', RCODE.FORMERR, packet('1234 0100 0001 0000 0000 0002', QUESTION, OPT)],
    [
      'EDNS version 1',
      RCODE.BADVERS,
      packet('1234 0100 0001 0000 0000 0001', QUESTION, '000029 04d0 00010000 0000'),
    ],
    ['another opcode', RCODE.NOTIMP, packet('1234 2900 0001 0000 0000 0000', QUESTION)],
  ])('refuses a query with %s', (_, rcode, bytes) => {
    expect(parseQuery(bytes)).toMatchObject({ kind: 'error', rcode, header: { id: 0x1234 }, question });
  });

  it.each([
    ['no question', packet('1234 0100 0000 0000 0000 0000')],
    ['two questions', packet('1234 0100 0002 0000 0000 0000', QUESTION, QUESTION)],
    ['a broken question', packet('1234 0100 0001 0000 0000 0000', 'c00c 0001 0001')],
  ])('refuses %s without repeating it', (_, bytes) => {
    expect(parseQuery(bytes)).toMatchObject({ kind: 'error', rcode: RCODE.FORMERR, question: undefined });
  });

  it('drops responses and what has no header', () => {
    expect(parseQuery(packet('1234 8100 0001 0000 0000 0000', QUESTION))).toEqual({ kind: 'drop' });
    expect(parseQuery(packet('1234'))).toEqual({ kind: 'drop' });
  });
});

const PLAIN_HEADER = {
  response: false,
  opcode: 0,
  authoritative: false,
  truncated: false,
  rcode: 0,
  recursionDesired: true,
  recursionAvailable: false,
  authenticData: false,
  checkingDisabled: false,
};

describe('respond', () => {
  it('has a code above 15 only with OPT: to others it would be another code', () => {
    const header = { ...PLAIN_HEADER, id: 1 };
    const edns = { version: 0, udpSize: 1232, dnssecOk: false, extendedRcode: 0, options: [] };
    for (const [rcode, low] of [
      [16, 0],
      [23, 7],
      [48, 0],
    ] as const) {
      const plain = respond({ header, question: undefined, edns: undefined }, { rcode });
      expect([plain.header.rcode, plain.edns]).toEqual([RCODE.SERVFAIL, undefined]);
      const whole = respond({ header, question: undefined, edns }, { rcode });
      expect([whole.header.rcode, whole.edns?.extendedRcode]).toEqual([low, rcode >> 4]);
    }
  });

  const plain = parseQuery(packet('1234 0110 0001 0000 0000 0000', QUESTION));
  const withEdns = parseQuery(packet('1234 0000 0001 0000 0000 0001', QUESTION, OPT));
  if (plain.kind === 'drop' || withEdns.kind === 'drop') throw new Error('both packets must be queries');

  it('matches its query, and has OPT only if the query had', () => {
    expect(respond(plain)).toMatchObject({
      header: {
        id: 0x1234,
        response: true,
        recursionDesired: true,
        checkingDisabled: true,
        truncated: false,
      },
      questions: [question],
      edns: undefined,
    });
    expect(respond(withEdns, { udpSize: 1400 })).toMatchObject({
      header: { recursionDesired: false, checkingDisabled: false },
      edns: { version: 0, udpSize: 1400, dnssecOk: true, extendedRcode: 0 },
    });
  });

  it('splits a response code between header and OPT', () => {
    const response = decodeMessage(encodeMessage(respond(withEdns, { rcode: RCODE.BADVERS })));
    expect(response).toMatchObject({ header: { rcode: 0 }, edns: { extendedRcode: 1 } });
  });

  it('carries what it is given', () => {
    const answers = [minimalAnyRecord(question.name)];
    const wanting = { ...plain, header: { ...plain.header, authenticData: true } };
    const given = { authoritative: true, recursionAvailable: true, authenticData: true, answers };
    expect(respond(plain, given).header.authenticData).toBe(false);
    expect(respond(wanting, given)).toMatchObject({
      header: { authoritative: true, recursionAvailable: true, authenticData: true, rcode: 0 },
      answers: [{ name: 'Web.example.', class: CLASS.IN, ttl: 8482, data: { kind: 'HINFO' } }],
      authorities: [],
      additionals: [],
    });
  });
});
