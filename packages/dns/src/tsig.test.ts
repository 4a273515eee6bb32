import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMessage, encodeMessage } from './message.ts';
import { encodeName, parseName, toKey } from './name.ts';
import {
  isMacMalformed,
  ResponseSigner,
  ResponseVerifier,
  readSignature,
  type Signature,
  signQuery,
  TSIG_ERROR,
  TsigError,
  verifyQuery,
} from './tsig.ts';
import { CLASS, type NameKey, TYPE } from './types.ts';

const name = (text: string): NameKey => toKey(parseName(text));
const KEY = { name: name('transfer.key.'), secret: Buffer.from('a secret of some octets') };
const OTHER = { ...KEY, secret: Buffer.from('another secret') };
const NOW = 1_800_000_000;
const ALGORITHMS = ['sha1', 'sha224', 'sha256', 'sha384', 'sha512'].map((hash) => name(`hmac-${hash}.`));
const SHA256 = name('hmac-sha256.');

const message = (id: number, owner = 'a.example.'): Uint8Array =>
  encodeMessage({
    header: {
      id,
      response: false,
      opcode: 0,
      rcode: 0,
      authoritative: false,
      truncated: false,
      recursionDesired: false,
      recursionAvailable: false,
      authenticData: false,
      checkingDisabled: false,
    },
    questions: [{ name: parseName(owner), type: TYPE.AXFR, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
    edns: undefined,
  });

function requireSignature(packet: Uint8Array): Signature {
  const reading = readSignature(packet);
  if (reading.kind !== 'signed') throw new TypeError(`the message is ${reading.kind}`);
  return reading.signature;
}

describe('a signed query', () => {
  it.each(ALGORITHMS)('is verified with %s, with any id', (algorithm) => {
    const { octets } = signQuery(message(7), KEY, algorithm, NOW);
    expect(decodeMessage(octets).additionals).toHaveLength(1);
    octets[0] = 0xff;
    const signature = requireSignature(octets);
    expect(signature).toMatchObject({ key: KEY.name, algorithm, time: NOW, fudge: 300, error: 0 });
    expect(signature.message).toEqual(message(7));
    expect(verifyQuery(signature, KEY, NOW)).toBe(TSIG_ERROR.NONE);
  });

  it('is refused with another key, algorithm or time, and with a truncated MAC', () => {
    const signature = requireSignature(signQuery(message(7), KEY, SHA256, NOW).octets);
    expect(verifyQuery(signature, undefined, NOW)).toBe(TSIG_ERROR.BADKEY);
    expect(verifyQuery({ ...signature, algorithm: name('hmac-md5.') }, KEY, NOW)).toBe(TSIG_ERROR.BADKEY);
    expect(verifyQuery(signature, OTHER, NOW)).toBe(TSIG_ERROR.BADSIG);
    expect(verifyQuery(signature, KEY, NOW + 300)).toBe(TSIG_ERROR.NONE);
    expect(verifyQuery(signature, KEY, NOW + 301)).toBe(TSIG_ERROR.BADTIME);
    expect(verifyQuery(signature, KEY, NOW - 301)).toBe(TSIG_ERROR.BADTIME);
    const cut = (octets: number) => ({ ...signature, mac: signature.mac.subarray(0, octets) });
    expect(verifyQuery(cut(16), KEY, NOW)).toBe(TSIG_ERROR.BADTRUNC);
    expect(verifyQuery(cut(0), KEY, NOW)).toBe(TSIG_ERROR.BADSIG);
    expect([15, 16, 32].map((octets) => isMacMalformed(cut(octets)))).toEqual([true, false, false]);
    expect(isMacMalformed({ ...signature, mac: new Uint8Array(33) })).toBe(true);
  });

  it('is refused with any other octet', () => {
    const { octets } = signQuery(message(7), KEY, SHA256, NOW);
    const end = octets.length - 6;
    fc.assert(
      // The last octets are the id of the original query, the error and the other data.
      fc.property(fc.integer({ min: 2, max: end - 1 }), fc.integer({ min: 1, max: 255 }), (at, bits) => {
        const changed = Uint8Array.from(octets);
        changed[at] = (changed[at] ?? 0) ^ bits;
        const reading = readSignature(changed);
        if (reading.kind !== 'signed') return;
        const { signature } = reading;
        // Names are compared in lower case.
        const isSame =
          signature.key === KEY.name &&
          signature.algorithm === SHA256 &&
          at > message(7).length &&
          Buffer.from(signature.mac).equals(Buffer.from(requireSignature(octets).mac)) &&
          signature.time === NOW &&
          signature.fudge === 300;
        const key = signature.key === KEY.name ? KEY : undefined;
        const isGood = verifyQuery(signature, key, NOW) === TSIG_ERROR.NONE && !isMacMalformed(signature);
        expect(isGood).toBe(isSame);
      }),
      { numRuns: 500 },
    );
  });

  it('is malformed with records behind its signature, or two of them', () => {
    const { octets } = signQuery(message(7), KEY, SHA256, NOW);
    const record = octets.subarray(message(7).length);
    const twice = Buffer.concat([octets, record]);
    twice.writeUInt16BE(2, 10);
    expect(readSignature(twice).kind).toBe('malformed');
    const opt = Buffer.concat([octets, Uint8Array.of(0, 0, 41, 4, 0, 0, 0, 0, 0, 0, 0)]);
    opt.writeUInt16BE(2, 10);
    expect(readSignature(opt).kind).toBe('malformed');
    const inClass = Uint8Array.from(octets);
    inClass[message(7).length + encodeName(KEY.name).length + 3] = 1;
    expect(readSignature(inClass).kind).toBe('malformed');
    expect(readSignature(message(7)).kind).toBe('none');
  });

  it('of any octets is read without an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 0, max: 200 }), (octets, cut) => {
        readSignature(octets);
        const { octets: signed } = signQuery(message(7), KEY, SHA256, NOW);
        readSignature(Buffer.concat([signed.subarray(0, cut), octets]));
      }),
    );
  });
});

describe('a signed response', () => {
  const query = signQuery(message(7), KEY, SHA256, NOW);
  const signer = (key: typeof KEY | undefined, error: number) =>
    new ResponseSigner(requireSignature(query.octets), key, error, () => NOW);
  const verifier = () => new ResponseVerifier(KEY, SHA256, query.mac);

  it('is verified, message by message', () => {
    const sign = signer(KEY, TSIG_ERROR.NONE);
    const verify = verifier();
    for (const owner of ['a.', 'b.', 'c.']) {
      const signed = sign.sign(message(7, owner));
      expect(signed.length - message(7, owner).length).toBeLessThanOrEqual(sign.octets);
      verify.take(signed, NOW);
      expect(verify.isSigned).toBe(true);
    }
  });

  it('may have 99 messages without a signature in between, but not at first', () => {
    const parts = Array.from({ length: 100 }, (_, index) => message(7, `m${index}.`));
    const verify = verifier();
    expect(() => verifier().take(message(7), NOW)).toThrow(TsigError);
    verify.take(signer(KEY, TSIG_ERROR.NONE).sign(message(7)), NOW);
    for (const part of parts.slice(1)) verify.take(part, NOW);
    expect(verify.isSigned).toBe(false);
    expect(() => verify.take(message(7), NOW)).toThrow('no signature');
  });

  it('is refused out of order, with another key, too late, and with an error', () => {
    const sign = signer(KEY, TSIG_ERROR.NONE);
    const first = sign.sign(message(7, 'a.'));
    const second = sign.sign(message(7, 'b.'));
    expect(() => verifier().take(second, NOW)).toThrow('bad signature');
    expect(() => verifier().take(signer(OTHER, TSIG_ERROR.NONE).sign(message(7)), NOW)).toThrow(
      'bad signature',
    );
    expect(() => verifier().take(first, NOW + 301)).toThrow('bad time');
    expect(() => verifier().take(signer(KEY, TSIG_ERROR.BADTIME).sign(message(7)), NOW)).toThrow('error 18');
  });

  it('has no MAC without a key, and tells the time to a client whose clock is wrong', () => {
    const unsigned = requireSignature(signer(undefined, TSIG_ERROR.BADKEY).sign(message(7)));
    expect(unsigned).toMatchObject({ error: TSIG_ERROR.BADKEY, mac: new Uint8Array(), time: 0 });
    const late = requireSignature(signer(KEY, TSIG_ERROR.BADTIME).sign(message(7)));
    expect(late).toMatchObject({ error: TSIG_ERROR.BADTIME, time: NOW });
    expect(Buffer.from(late.other).readUIntBE(0, 6)).toBe(NOW);
    expect(late.mac).toHaveLength(32);
  });
});
