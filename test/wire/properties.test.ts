import { ACCEPT, accept, questionEnd, writeErrorResponse } from '@portolan/dns/acceptance.ts';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { countLabels, joinName, parseName, splitLabels, toKey, toParent } from '@portolan/dns/name.ts';
import { decodeName, encodeName } from '@portolan/dns/name-wire.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { parseQuery, respond } from '@portolan/dns/query.ts';
import type { AbsoluteName, Message } from '@portolan/dns/types.ts';
import { WireError } from '@portolan/dns/wire-error.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryDamage, arbitraryMessage, arbitraryName, arbitraryQuery } from './arbitraries.ts';

const anyOctets = fc.oneof(
  fc.uint8Array({ maxLength: 600 }),
  arbitraryDamage(arbitraryMessage, encodeMessage),
  arbitraryDamage(arbitraryQuery, encodeMessage),
);

/** The same octets in the middle of a larger memory full of something else. */
function amidst(bytes: Uint8Array, poison: number): { memory: Uint8Array; start: number } {
  const start = 300;
  const memory = new Uint8Array(bytes.length + 2 * start).fill(poison);
  memory.set(bytes, start);
  return { memory, start };
}

/** What a call gives, or the words of the WireError that it ends in. Any other error is not caught. */
function tryCall<Value>(call: () => Value): Value | string {
  try {
    return call();
  } catch (error) {
    if (error instanceof WireError) return error.message;
    throw error;
  }
}

function formatRecords(message: Message): string {
  const sections = [message.answers, message.authorities, message.additionals];
  return sections
    .flatMap((records, section) => records.map((record) => `${section} ${presentRecord(record)}`))
    .join('\n')
    .toLowerCase();
}

describe('names', () => {
  it('are the same after text, after octets, and taken apart and put together', () => {
    fc.assert(
      fc.property(arbitraryName, (name) => {
        expect(parseName(name)).toBe(name);
        expect(decodeName(encodeName(name))).toBe(name);
        const labels = splitLabels(name);
        expect(labels.length).toBe(countLabels(name));
        const joined = labels.reduceRight<AbsoluteName>(
          (parent, label) => joinName(label, parent),
          parseName('.'),
        );
        expect(joined).toBe(name);
        const parent = toParent(name);
        expect(parent === undefined ? [] : splitLabels(parent)).toEqual(labels.slice(1));
      }),
    );
  });

  it('have one key for all capitals, and octets outside ASCII letters are left alone', () => {
    fc.assert(
      fc.property(arbitraryName, (name) => {
        const lower = encodeName(name).map((octet) => (octet >= 0x41 && octet <= 0x5a ? octet + 32 : octet));
        // Lengths of labels are below 64, so none of them was taken for a capital letter.
        expect(encodeName(toKey(name))).toEqual(lower);
      }),
    );
  });

  it('read from any text are the same when read again', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (text) => {
        let name: AbsoluteName;
        try {
          name = parseName(text);
        } catch (error) {
          expect(error).toHaveProperty('name', 'NameError');
          return;
        }
        expect(parseName(name)).toBe(name);
        expect(decodeName(encodeName(name))).toBe(name);
      }),
    );
  });
});

describe('messages', () => {
  it('are the same after encode and decode', () => {
    fc.assert(
      fc.property(arbitraryMessage, (message) => {
        expect(decodeMessage(encodeMessage(message))).toEqual(message);
      }),
      { numRuns: 500 },
    );
  });

  it('never exceed their limit, and keep whole records in order, and OPT', () => {
    fc.assert(
      fc.property(arbitraryMessage, fc.integer({ min: 512, max: 2000 }), (message, limit) => {
        fc.pre(message.questions.length === 1);
        const bytes = encodeMessage(message, { limit });
        const cut = decodeMessage(bytes);
        expect(bytes.length).toBeLessThanOrEqual(limit);
        expect(cut.questions).toEqual(message.questions);
        expect(cut.edns).toEqual(message.edns);
        expect(cut.answers).toEqual(message.answers.slice(0, cut.answers.length));
        expect(cut.authorities).toEqual(message.authorities.slice(0, cut.authorities.length));
        expect(cut.additionals).toEqual(message.additionals.slice(0, cut.additionals.length));
        const lost = cut.answers.length < message.answers.length;
        // Authorities alone are a referral or a denial, and all records behind them belong to it.
        const isSaidByAuthorities = message.answers.length === 0 && message.authorities.length > 0;
        const further = [cut, message].map(
          ({ authorities, additionals }) => authorities.length + additionals.length,
        );
        const isCut = lost || (isSaidByAuthorities && further[0] !== further[1]);
        expect(cut.header.truncated).toBe(isCut || message.header.truncated);
        if (lost) expect(cut.authorities).toEqual([]);
        if (cut.authorities.length < message.authorities.length) expect(cut.additionals).toEqual([]);
      }),
    );
  });

  it('of any octets are read or refused with a WireError, and what is read can be written', () => {
    fc.assert(
      fc.property(anyOctets, (bytes) => {
        const message = tryCall(() => decodeMessage(bytes));
        if (typeof message === 'string') return;
        const again = decodeMessage(encodeMessage(message));
        expect(formatRecords(again)).toBe(formatRecords(message));
      }),
      { numRuns: 3000 },
    );
  });

  it('are read from their own octets alone', () => {
    fc.assert(
      fc.property(anyOctets, (bytes) => {
        const outcomes = [0x00, 0x01, 0xc0, 0xff].map((poison) => {
          const { memory, start } = amidst(bytes, poison);
          return tryCall(() => decodeMessage(memory.subarray(start, start + bytes.length)));
        });
        for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0]);
      }),
      { numRuns: 500 },
    );
  });
});

describe('queries', () => {
  it('that nothing is wrong with are taken as they are', () => {
    fc.assert(
      fc.property(arbitraryQuery, (message) => {
        const parsed = parseQuery(encodeMessage(message));
        const kind = message.edns !== undefined && message.edns.version > 0 ? 'error' : 'query';
        const { header } = message;
        // An error response repeats nothing of another version.
        const other = { version: 0, extendedRcode: 0, options: [] };
        const edns = kind === 'query' ? message.edns : { ...message.edns, ...other };
        expect(parsed).toMatchObject({ kind, header, question: message.questions[0] });
        expect(parsed).toHaveProperty('edns', edns);
      }),
    );
  });

  it('of any octets are judged without an error, and alike on the fast and on the slow way', () => {
    fc.assert(
      fc.property(anyOctets, (bytes) => {
        const verdict = accept(bytes, 0, bytes.length);
        const parsed = parseQuery(bytes);
        if (verdict === ACCEPT.DROP) expect(parsed.kind).toBe('drop');
        else if (verdict !== ACCEPT.QUERY) expect(parsed.kind).toBe('error');
        if (parsed.kind === 'drop') return;
        const response = decodeMessage(encodeMessage(respond(parsed)));
        expect(response.header.response).toBe(true);
        expect(response.header.id).toBe(new DataView(bytes.buffer).getUint16(0));
      }),
      { numRuns: 2000 },
    );
  });

  it('are judged and refused inside their own octets alone', () => {
    fc.assert(
      fc.property(anyOctets, (bytes) => {
        const outcomes = [0x00, 0x01, 0xff].map((poison) => {
          const { memory, start } = amidst(bytes, poison);
          const verdict = accept(memory, start, bytes.length);
          const end = questionEnd(memory, start, bytes.length);
          if (verdict === ACCEPT.DROP) return { verdict, end, response: undefined };
          const length = writeErrorResponse(memory, start, bytes.length, 5, 1232);
          expect(length).toBeLessThanOrEqual(bytes.length);
          const outside = [...memory.subarray(0, start), ...memory.subarray(start + bytes.length)];
          expect(outside.every((octet) => octet === poison)).toBe(true);
          return { verdict, end, response: memory.slice(start, start + length) };
        });
        for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0]);
      }),
      { numRuns: 500 },
    );
  });

  it('refused in place get what the slow way says', () => {
    fc.assert(
      fc.property(anyOctets, (bytes) => {
        const parsed = parseQuery(bytes);
        if (parsed.kind !== 'error') return;
        const slow = encodeMessage(respond(parsed, { rcode: parsed.rcode }));
        const length = writeErrorResponse(bytes, 0, bytes.length, parsed.rcode, 1232);
        expect(bytes.subarray(0, length)).toEqual(slow);
      }),
      { numRuns: 2000 },
    );
  });
});
