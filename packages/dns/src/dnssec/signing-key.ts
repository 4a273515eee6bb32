/**
 * Private keys that sign: as the tools of BIND and NLnet Labs write them, and as Node.js takes them.
 */
import {
  createPrivateKey,
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { uint16At } from '../header.ts';
import { ALGORITHM, computeKeyTag } from './dnskey.ts';

/** How one algorithm signs. */
interface SigningAlgorithm {
  /** Undefined: the algorithm has its own. */
  readonly hash: string | undefined;
  /** Undefined: RSA. */
  readonly curve?: { readonly name: string; readonly octets: number; readonly kind: 'EC' | 'OKP' };
}

const rsa = (hash: string): SigningAlgorithm => ({ hash });

/** RFC 3110, RFC 5702, RFC 6605, RFC 8080. */
const SCHEMES: ReadonlyMap<number, SigningAlgorithm> = new Map<number, SigningAlgorithm>([
  [ALGORITHM.RSASHA1, rsa('sha1')],
  [ALGORITHM.RSASHA1_NSEC3, rsa('sha1')],
  [ALGORITHM.RSASHA256, rsa('sha256')],
  [ALGORITHM.RSASHA512, rsa('sha512')],
  [ALGORITHM.ECDSAP256SHA256, { hash: 'sha256', curve: { name: 'P-256', octets: 32, kind: 'EC' } }],
  [ALGORITHM.ECDSAP384SHA384, { hash: 'sha384', curve: { name: 'P-384', octets: 48, kind: 'EC' } }],
  [ALGORITHM.ED25519, { hash: undefined, curve: { name: 'Ed25519', octets: 32, kind: 'OKP' } }],
]);

/** A pair of keys as plain values. */
export interface KeyPair {
  /** The data of the DNSKEY record. */
  readonly dnskey: Uint8Array;
  /** The fields of the private key by their names, in octets: `PrivateKey`, or `Modulus` and the other numbers of RSA. */
  readonly fields: ReadonlyMap<string, Uint8Array>;
}

/** Why a pair of keys cannot sign. */
export class KeyError extends Error {
  override readonly name = 'KeyError';
}

export interface SigningKey {
  readonly algorithm: number;
  readonly tag: number;
  sign(octets: Uint8Array): Uint8Array;
}

/** Whether zones can be signed with an algorithm. */
export function isKnownAlgorithm(algorithm: number): boolean {
  return SCHEMES.has(algorithm);
}

/** @throws KeyError */
export function createSigningKey({ dnskey, fields }: KeyPair): SigningKey {
  const algorithm = dnskey[3] ?? 0;
  const scheme = SCHEMES.get(algorithm);
  if (scheme === undefined) throw new KeyError(`no algorithm that signs here: ${algorithm}`);
  const octets = dnskey.subarray(4);
  const publicWords = scheme.curve === undefined ? readRsa(octets) : readPoint(octets, scheme.curve);
  const { key, publicKey } = importKeys(publicWords, readPrivate(fields, scheme));
  const ofPair = (part: KeyObject) =>
    scheme.curve?.kind === 'EC' ? ({ key: part, dsaEncoding: 'ieee-p1363' } as const) : part;
  const privatePart = ofPair(key);
  const signOctets = (message: Uint8Array) => sign(scheme.hash, message, privatePart);
  if (!canSign(() => verify(scheme.hash, dnskey, ofPair(publicKey), signOctets(dnskey))))
    throw new KeyError('the private key is not that of the public key');
  return { algorithm, tag: computeKeyTag(dnskey), sign: signOctets };
}

/** @throws KeyError for a key that is too short for its hash, or that the machine does not allow */
function canSign(test: () => boolean): boolean {
  try {
    return test();
  } catch {
    throw new KeyError('the key does not sign here: it is too short, or its algorithm is not allowed');
  }
}

const toWord = (octets: Uint8Array): string => Buffer.from(octets).toString('base64url');

/** @throws KeyError */
function importKeys(
  publicWords: JsonWebKey,
  privateWords: JsonWebKey,
): { readonly key: KeyObject; readonly publicKey: KeyObject } {
  try {
    return {
      key: createPrivateKey({ key: { ...publicWords, ...privateWords }, format: 'jwk' }),
      publicKey: createPublicKey({ key: publicWords, format: 'jwk' }),
    };
  } catch {
    // The errors of OpenSSL say nothing that helps.
    throw new KeyError('not a key of its algorithm');
  }
}

/** RFC 6605 section 4 and RFC 8080 section 3: the octets of a point. */
function readPoint(
  octets: Uint8Array,
  { name, octets: size, kind }: NonNullable<SigningAlgorithm['curve']>,
): JsonWebKey {
  if (octets.length !== (kind === 'EC' ? 2 * size : size))
    throw new KeyError(`the public key has ${octets.length} octets, which is no key of its algorithm`);
  const words = { kty: kind, crv: name, x: toWord(octets.subarray(0, size)) };
  return kind === 'EC' ? { ...words, y: toWord(octets.subarray(size)) } : words;
}

/** RFC 3110 section 2: the length of the exponent, the exponent, the modulus. */
function readRsa(octets: Uint8Array): JsonWebKey {
  const [first = 0] = octets;
  const [start, length] = first === 0 ? [3, uint16At(octets, 1)] : [1, first];
  const modulus = octets.subarray(start + length);
  if (length === 0 || modulus.length === 0) throw new KeyError('the public key is no RSA key');
  return { kty: 'RSA', e: toWord(octets.subarray(start, start + length)), n: toWord(modulus) };
}

/** The names of the numbers of RSA in key files, and in JSON Web Keys (RFC 7518 section 6.3). */
const RSA_FIELDS = {
  PrivateExponent: 'd',
  Prime1: 'p',
  Prime2: 'q',
  Exponent1: 'dp',
  Exponent2: 'dq',
  Coefficient: 'qi',
} as const;

function readPrivate(fields: KeyPair['fields'], { curve }: SigningAlgorithm): JsonWebKey {
  if (curve === undefined)
    return Object.fromEntries(
      Object.entries(RSA_FIELDS).map(([name, word]) => [word, toWord(requireField(fields, name))]),
    );
  const scalar = requireField(fields, 'PrivateKey');
  if (scalar.length > curve.octets) throw new KeyError('the private key is too long for its algorithm');
  // Some tools leave out zeros in front.
  const whole = Buffer.concat([new Uint8Array(curve.octets - scalar.length), scalar]);
  return { d: toWord(whole) };
}

function requireField(fields: KeyPair['fields'], name: string): Uint8Array {
  const field = fields.get(name);
  if (field === undefined || field.length === 0) throw new KeyError(`the private key lacks ${name}`);
  return field;
}
