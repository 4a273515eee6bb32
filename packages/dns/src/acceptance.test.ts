import { describe, expect, it } from 'vitest';
import { ACCEPT, accept, questionEnd, writeErrorResponse } from './acceptance.ts';
import { RCODE } from './types.ts';

const HEADER = '1234 0110 0001 0000 0000 0001';
const QUESTION = '03576562 076578616d706c65 00 0001 0001';
const OPT = '00 0029 04d0 00000000 0000';
const RECORD = 'c00c 0001 0001 00000000 0004 7f000001';

const packet = (...parts: string[]) =>
  Uint8Array.from(Buffer.from(parts.join('').replaceAll(' ', ''), 'hex'));
const judge = (bytes: Uint8Array) => accept(bytes, 0, bytes.length);

describe('accept', () => {
  it.each([
    ['a query', packet(HEADER, QUESTION, OPT), ACCEPT.QUERY],
    ['a query for the root', packet(HEADER, '00 0002 0001'), ACCEPT.QUERY],
    ['a query of class ANY', packet(HEADER, '00 0002 00ff'), ACCEPT.QUERY],
    ['nothing', packet(), ACCEPT.DROP],
    ['eleven octets', packet(HEADER).subarray(0, 11), ACCEPT.DROP],
    ['a response', packet('1234 8110 0001 0000 0000 0001', QUESTION), ACCEPT.DROP],
    ['a response of another opcode', packet('1234 a910 0001 0000 0000 0001', QUESTION), ACCEPT.DROP],
    ['NOTIFY', packet('1234 2110 0001 0000 0000 0001', QUESTION), ACCEPT.NOTIMP],
    ['UPDATE without a question', packet('1234 2910 0000 0000 0000 0000'), ACCEPT.NOTIMP],
    ['no question', packet('1234 0110 0000 0000 0000 0000'), ACCEPT.FORMERR],
    ['two questions', packet('1234 0110 0002 0000 0000 0000', QUESTION, QUESTION), ACCEPT.FORMERR],
    ['257 questions', packet('1234 0110 0101 0000 0000 0000', QUESTION), ACCEPT.FORMERR],
    ['an answer in a query', packet('1234 0110 0001 0001 0000 0000', QUESTION), ACCEPT.FORMERR],
    ['256 answers in a query', packet('1234 0110 0001 0100 0000 0000', QUESTION), ACCEPT.FORMERR],
    ['a header alone', packet(HEADER), ACCEPT.FORMERR],
    ['a question that lacks an octet', packet(HEADER, QUESTION).subarray(0, -1), ACCEPT.FORMERR],
    ['a name beyond the packet', packet(HEADER, '3f6161'), ACCEPT.FORMERR],
    ['a compressed name', packet(HEADER, 'c00c 0001 0001'), ACCEPT.FORMERR],
    ['a label of an unknown kind', packet(HEADER, '4061 00 0001 0001'), ACCEPT.FORMERR],
    ['a name of 255 octets', packet(HEADER, '0161'.repeat(127), '00 0001 0001'), ACCEPT.QUERY],
    ['a name of 257 octets', packet(HEADER, '0161'.repeat(128), '00 0001 0001'), ACCEPT.FORMERR],
  ])('judges %s', (_, bytes, verdict) => {
    expect(judge(bytes)).toBe(verdict);
  });

  it('judges a packet where it lies', () => {
    const query = packet(HEADER, QUESTION);
    const memory = new Uint8Array(4096).fill(0xc0);
    memory.set(query, 2048);
    expect(accept(memory, 2048, query.length)).toBe(ACCEPT.QUERY);
    expect(questionEnd(memory, 2048, query.length)).toBe(2048 + 12 + 17);
    expect(accept(memory, 2048, query.length - 1)).toBe(ACCEPT.FORMERR);
  });
});

describe('writeErrorResponse', () => {
  it('keeps id, opcode, RD, CD and the question with its capitals', () => {
    const memory = packet('ff', HEADER, QUESTION, OPT, 'ff');
    const length = writeErrorResponse(memory, 1, memory.length - 2, RCODE.REFUSED, 1232);
    expect(memory.subarray(1, 1 + length)).toEqual(packet('1234 8115 0001 0000 0000 0001', QUESTION, OPT));
    expect([memory.at(0), memory.at(-1)]).toEqual([0xff, 0xff]);
  });

  it('leaves out a question that is not sound', () => {
    const memory = packet('1234 2810 0001 0005 0006 0007', 'c00c 0001 0001');
    const length = writeErrorResponse(memory, 0, memory.length, RCODE.NOTIMP, 1232);
    expect(memory.subarray(0, length)).toEqual(packet('1234 a814 0000 0000 0000 0000'));
  });

  it.each([
    ['behind the question', [HEADER, QUESTION], '0001', QUESTION],
    ['behind two questions', ['1234 0110 0002 0000 0000 0001', QUESTION, QUESTION], '0000', ''],
    ['without a question', ['1234 0110 0000 0000 0000 0001'], '0000', ''],
    ['behind a compressed question', [HEADER, 'c00c 0001 0001'], '0000', ''],
    [
      'behind other records',
      ['1234 0110 0001 0001 0001 0002', QUESTION, RECORD, RECORD, RECORD],
      '0001',
      QUESTION,
    ],
  ])('keeps OPT %s, its DO bit and nothing else of it', (_, parts, questions, question) => {
    // A different UDP size, DO, and a COOKIE of eight octets (RFC 7873).
    const memory = packet(...parts, '00 0029 0fa0 00008000 000c', '000a 0008 0102030405060708', 'ff');
    const length = writeErrorResponse(memory, 0, memory.length, RCODE.BADVERS, 1232);
    const opt = '00 0029 04d0 01008000 0000';
    expect(memory.subarray(0, length)).toEqual(
      packet('1234 8110', questions, '0000 0000 0001', question, opt),
    );
  });

  it('leaves out questions where there are several', () => {
    const memory = packet('1234 0100 0002 0000 0000 0000', QUESTION, QUESTION);
    const length = writeErrorResponse(memory, 0, memory.length, RCODE.FORMERR, 1232);
    expect(memory.subarray(0, length)).toEqual(packet('1234 8101 0000 0000 0000 0000'));
  });
});
