/**
 * The examples of the RFCs: keys, key tags, digests and signatures.
 */
import { createPublicKey, verify } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseName, toKey } from '../name.ts';
import { CLASS, type RecordData, type ResourceRecord, TYPE } from '../types.ts';
import {
  canonicalText,
  compareText,
  countSignedLabels,
  encodeCanonicalData,
  encodeCanonicalSet,
} from './canonical-form.ts';
import { computeKeyTag, DIGEST, encodeDelegationSigner } from './dnskey.ts';
import { encodeSet, groupSets, signSet } from './rrsig.ts';
import { createSigningKey, KeyError, type KeyPair } from './signing-key.ts';

const octets = (base64: string): Uint8Array => Uint8Array.from(Buffer.from(base64, 'base64'));
const key = (name: string) => toKey(parseName(name));

function makeDnskey(flags: number, algorithm: number, base64: string): Uint8Array {
  return Uint8Array.of(flags >> 8, flags & 0xff, 3, algorithm, ...octets(base64));
}

function makePair(dnskey: Uint8Array, fields: Readonly<Record<string, string>>): KeyPair {
  return {
    dnskey,
    fields: new Map(Object.entries(fields).map(([name, value]) => [name, octets(value)])),
  };
}

const record = (name: string, data: RecordData, ttl = 3600): ResourceRecord => ({
  name: parseName(name),
  class: CLASS.IN,
  ttl,
  data,
});

const seconds = (text: string): number => {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(..)(..)(..)(..)(..)$/.exec(text) ?? [];
  return (
    Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)) /
    1000
  );
};

describe('RFC 4034 section 5.4 and RFC 4509 section 2.3', () => {
  const dnskey = makeDnskey(
    256,
    5,
    'AQOeiiR0GOMYkDshWoSKz9XzfwJr1AYtsmx3TGkJaNXVbfi/2pHm822aJ5iI9BMzNXxeYCmZDRD99WYwYqUSdjMmmAphXdvxegXd/M5+X7OrzKBaMbCVdFLUUh6DhweJBjEVv5f2wwjM9XzcnOf+EPbtG9DMBmADjFDc2w/rljwvFw==',
  );

  it('have the tag and the digests of a key', () => {
    expect(computeKeyTag(dnskey)).toBe(60485);
    const hex = (digest: 1 | 2) =>
      Buffer.from(encodeDelegationSigner(key('dskey.example.com.'), dnskey, digest))
        .toString('hex')
        .toUpperCase();
    expect(hex(DIGEST.SHA1)).toBe(`EC450501${'2BB183AF5F22588179A53B0A98631FAD1A292118'}`);
    expect(hex(DIGEST.SHA256)).toBe(
      `EC450502${'D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A'}`,
    );
  });
});

/** RFC 8080 section 6.1: these signatures have no chance in them. */
const ED25519 = [
  [
    'ODIyNjAzODQ2MjgwODAxMjI2NDUxOTAyMDQxNDIyNjI=',
    'l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=',
    3613,
    'oL9krJun7xfBOIWcGHi7mag5/hdZrKWw15jPGrHpjQeRAvTdszaPD+QLs3fx8A4M3e23mRZ9VrbpMngwcrqNAg==',
  ],
  [
    'DSSF3o0s0f+ElWzj9E/Osxw8hLpk55chkmx0LYN5WiY=',
    'zPnZ/QwEe7S8C5SPz2OfS5RR40ATk2/rYnE9xHIEijs=',
    35217,
    'zXQ0bkYgQTEFyfLyi9QoiY6D8ZdYo4wyUhVioYZXFdT410QPRITQSqJSnzQoSm5poJ7gD7AQR0O7KuI5k2pcBg==',
  ],
] as const;

describe('RFC 8080 section 6.1', () => {
  it.each(ED25519)('signs with the key %s', (privateKey, publicKey, tag, signature) => {
    const signing = createSigningKey(makePair(makeDnskey(257, 15, publicKey), { PrivateKey: privateKey }));
    expect(signing.tag).toBe(tag);
    const mail = record('example.com.', {
      kind: 'MX',
      preference: 10,
      exchange: parseName('mail.example.com.'),
    });
    const bytes = signSet(encodeSet([mail], 3600), {
      key: signing,
      signer: key('example.com.'),
      inception: 1438207200,
      expiration: 1440021600,
    });
    const fixed = 18 + 13;
    expect(Buffer.from(bytes.subarray(0, 18)).toString('hex')).toBe(
      `000f0f02${'00000e10'}55d4fc60${'55b94ce0'}${tag.toString(16).padStart(4, '0')}`,
    );
    expect(Buffer.from(bytes.subarray(fixed)).toString('base64')).toBe(signature);
  });
});

/** The key of 512 bits. */
const makeRsaPair = (algorithm: number): KeyPair =>
  makePair(
    makeDnskey(
      256,
      algorithm,
      'AwEAAcFcGsaxxdgiuuGmCkVImy4h99CqT7jwY3pexPGcnUFtR2Fh36BponcwtkZ4cAgtvd4Qs8PkxUdp6p/DlUmObdk=',
    ),
    {
      Modulus: 'wVwaxrHF2CK64aYKRUibLiH30KpPuPBjel7E8ZydQW1HYWHfoGmidzC2RnhwCC293hCzw+TFR2nqn8OVSY5t2Q==',
      PublicExponent: 'AQAB',
      PrivateExponent:
        'UR44xX6zB3eaeyvTRzmskHADrPCmPWnr8dxsNwiDGHzrMKLN+i/HAam+97HxIKVWNDH2ba9Mf1SA8xu9dcHZAQ==',
      Prime1: '4c8IvFu1AVXGWeFLLFh5vs7fbdzdC6U82fduE6KkSWk=',
      Prime2: '2zZpBE8ZXVnL74QjG4zINlDfH+EOEtjJJ3RtaYDugvE=',
      Exponent1: 'G2xAPfK0KGxGANDVNxd1K1c9wOmmJ51mGbzKFFNMFk0=',
      Exponent2: 'GYxP1Pa7CAwtHm8SAGX594qZVofOMhgd6YFCNyeVpKE=',
      Coefficient: 'icQdNRjlZGPmuJm2TIadubcO8X7V4y07aVhX464tx8Q=',
    },
  );

describe('RFC 5702 section 6.1', () => {
  it('signs with RSA and SHA-256', () => {
    const signing = createSigningKey(makeRsaPair(8));
    expect(signing.tag).toBe(9033);
    const address = record('www.example.net.', { kind: 'A', address: '192.0.2.91' });
    const bytes = signSet(encodeSet([address], 3600), {
      key: signing,
      signer: key('example.net.'),
      inception: seconds('20000101000000'),
      expiration: seconds('20300101000000'),
    });
    expect(Buffer.from(bytes.subarray(18 + 13)).toString('base64')).toBe(
      'kRCOH6u7l0QGy9qpC9l1sLncJcOKFLJ7GhiUOibu4teYp5VE9RncriShZNz85mwlMgNEacFYK/lPtPiVYP4bwg==',
    );
  });

  it('has no key that is long enough for SHA-512', () => {
    expect(() => createSigningKey(makeRsaPair(10))).toThrow(KeyError);
  });
});

/** RFC 6605 section 6: signatures by elliptic curves have chance in them, so those of the RFC are verified over our octets. */
const CURVES = [
  [
    'P-256',
    'sha256',
    13,
    55648,
    'GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==',
    'GU6SnQ/Ou+xC5RumuIUIuJZteXT2z0O/ok1s38Et6mQ=',
    '20100812100439',
    '20100909100439',
    'qx6wLYqmh+l9oCKTN6qIc+bw6ya+KJ8oMz0YP107epXAyGmt+3SNruPFKG7tZoLBLlUzGGus7ZwmwWep666VCw==',
  ],
  [
    'P-384',
    'sha384',
    14,
    10771,
    'xKYaNhWdGOfJ+nPrL8/arkwf2EY3MDJ+SErKivBVSum1w/egsXvSADtNJhyem5RCOpgQ6K8X1DRSEkrbYQ+OB+v8/uX45NBwY8rp65F6Glur8I/mlVNgF6W/qTI37m40',
    'WURgWHCcYIYUPWgeLmiPY2DJJk02vgrmTfitxgqcL4vwW7BOrbawVmVe0d9V94SR',
    '20100812102025',
    '20100909102025',
    '/L5hDKIvGDyI1fcARX3z65qrmPsVz73QD1Mr5CEqOiLP95hxQouuroGCeZOvzFaxsT8Glr74hbavRKayJNuydCuzWTSSPdz7wnqXL5bdcJzusdnI0RSMROxxwGipWcJm',
  ],
] as const;

describe('RFC 6605 section 6', () => {
  it.each(CURVES)(
    'verifies by %s',
    (curve, hash, algorithm, tag, publicKey, privateKey, inception, expiration, signature) => {
      const dnskey = makeDnskey(257, algorithm, publicKey);
      const signing = createSigningKey(makePair(dnskey, { PrivateKey: privateKey }));
      expect(signing.tag).toBe(tag);
      const address = record('www.example.net.', { kind: 'A', address: '192.0.2.1' });
      const ours = signSet(encodeSet([address], 3600), {
        key: signing,
        signer: key('example.net.'),
        inception: seconds(inception),
        expiration: seconds(expiration),
      });
      const head = ours.subarray(0, 18 + 13);
      const point = octets(publicKey);
      const [x, y] = [point.subarray(0, point.length / 2), point.subarray(point.length / 2)].map((each) =>
        Buffer.from(each).toString('base64url'),
      );
      const verifier = createPublicKey({
        key: { kty: 'EC', crv: curve, x: x ?? '', y: y ?? '' },
        format: 'jwk',
      });
      const message = Buffer.concat([head, encodeCanonicalSet([address], 3600)]);
      const isValid = (bytes: Uint8Array) =>
        verify(hash, message, { key: verifier, dsaEncoding: 'ieee-p1363' }, bytes);
      expect(isValid(octets(signature))).toBe(true);
      expect(isValid(ours.subarray(head.length))).toBe(true);
    },
  );
});

describe('a pair of keys', () => {
  it.each([
    ['of two keys', ED25519[0][0], ED25519[1][1], 15, 'not that of the public key'],
    ['with a key that is too short', ED25519[0][0], 'AAAA', 15, 'which is no key of its algorithm'],
    [
      'of an algorithm that does not sign',
      ED25519[0][0],
      ED25519[0][1],
      16,
      'no algorithm that signs here: 16',
    ],
  ])('%s is refused', (_, privateKey, publicKey, algorithm, message) => {
    const pair = makePair(makeDnskey(257, algorithm, publicKey), { PrivateKey: privateKey });
    expect(() => createSigningKey(pair)).toThrow(KeyError);
    expect(() => createSigningKey(pair)).toThrow(message);
  });

  it('without its numbers is refused', () => {
    const pair = makePair(makeDnskey(257, 15, ED25519[0][1]), {});
    expect(() => createSigningKey(pair)).toThrow('the private key lacks PrivateKey');
  });
});

describe('RFC 4034 section 6', () => {
  it('orders names', () => {
    const ordered = [
      'example.',
      'a.example.',
      'yljkjljk.a.example.',
      'z.a.example.',
      'zabc.a.example.',
      'z.example.',
      '\\001.z.example.',
      '*.z.example.',
      '\\200.z.example.',
    ].map(key);
    const sorted = ordered
      .toReversed()
      .sort((one, other) => compareText(canonicalText(one), canonicalText(other)));
    expect(sorted).toEqual(ordered);
  });

  it('counts the labels of a wildcard without the asterisk', () => {
    expect(
      ['example.com.', 'a.example.com.', '*.example.com.', '*a.example.com.', '.'].map((name) =>
        countSignedLabels(parseName(name)),
      ),
    ).toEqual([2, 3, 2, 3, 0]);
  });

  it('has names in lower case, but not those of younger types', () => {
    const text = (data: RecordData) => Buffer.from(encodeCanonicalData(data)).toString('latin1');
    expect(text({ kind: 'MX', preference: 1, exchange: parseName('Mail.Example.') })).toContain(
      'mail\x07example',
    );
    expect(text({ kind: 'SVCB', priority: 1, target: parseName('Web.Example.'), parameters: [] })).toContain(
      'Web\x07Example',
    );
    const mailbox = Buffer.from('\x04Host\x07Example\x00\x03TXT\x00', 'latin1');
    expect(text({ kind: 'unknown', type: 17, bytes: Uint8Array.from(mailbox) })).toBe(
      '\x04host\x07example\x00\x03txt\x00',
    );
    const next = Buffer.from('\x01A\x00\x00\x01\x40', 'latin1');
    expect(text({ kind: 'unknown', type: TYPE.NSEC, bytes: Uint8Array.from(next) })).toBe(
      '\x01A\x00\x00\x01\x40',
    );
  });

  it('is one for all orders, letters and repetitions of a set', () => {
    const address = fc.ipV4();
    fc.assert(
      fc.property(fc.uniqueArray(address, { minLength: 1, maxLength: 6 }), fc.nat(), (texts, seed) => {
        const set = texts.map((each) => record('a.example.', { kind: 'A', address: each }));
        const turned = [
          ...set.slice(seed % set.length),
          ...set.slice(0, seed % set.length),
          ...set.slice(0, 1),
        ];
        const upper = turned.map((each) => ({ ...each, name: parseName('A.EXAMPLE.') }));
        expect(encodeCanonicalSet(upper, 5)).toEqual(encodeCanonicalSet(set, 5));
      }),
    );
  });
});

it('records are grouped by owner, class and type, without signatures', () => {
  const one = record('a.example.', { kind: 'A', address: '192.0.2.1' });
  const other = record('A.example.', { kind: 'A', address: '192.0.2.2' });
  const text = record('a.example.', { kind: 'TXT', strings: [] });
  const signature = record('a.example.', { kind: 'unknown', type: TYPE.RRSIG, bytes: new Uint8Array(20) });
  expect(groupSets([one, text, signature, other])).toEqual([[one, other], [text]]);
});
