/**
 * DNSKEY records, and what is computed from them: key tags and digests (RFC 4034 section 2 and appendix B, RFC 4509).
 */
import { createHash } from 'node:crypto';
import { uint16At } from '../header.ts';
import { encodeName } from '../name.ts';
import type { NameKey } from '../types.ts';

/** RFC 4034 section 2.1.1. */
const ZONE_KEY = 0x0100;
const SECURE_ENTRY_POINT = 0x0001;

/** Algorithms that zones are signed with, by their numbers (IANA, DNS Security Algorithm Numbers). */
export const ALGORITHM = {
  RSASHA1: 5,
  RSASHA1_NSEC3: 7,
  RSASHA256: 8,
  RSASHA512: 10,
  ECDSAP256SHA256: 13,
  ECDSAP384SHA384: 14,
  ED25519: 15,
} as const;

/** RFC 4034 appendix A.2. */
export const DIGEST = { SHA1: 1, SHA256: 2 } as const;

export interface DnskeyFields {
  readonly flags: number;
  readonly algorithm: number;
}

/** @param data of the DNSKEY record @returns undefined if it is no key of DNSSEC (RFC 4034 section 2.1.2) */
export function readDnskeyFields(data: Uint8Array): DnskeyFields | undefined {
  const [, , protocol, algorithm = 0] = data;
  if (data.length < 5 || protocol !== 3) return undefined;
  return { flags: uint16At(data, 0), algorithm };
}

/** Whether it signs keys only, where a zone has both kinds. */
export function isKeySigningKey({ flags }: Pick<DnskeyFields, 'flags'>): boolean {
  return (flags & ZONE_KEY) !== 0 && (flags & SECURE_ENTRY_POINT) !== 0;
}

/** Whether it signs records other than keys, where a zone has both kinds. */
export function isZoneSigningKey({ flags }: Pick<DnskeyFields, 'flags'>): boolean {
  return (flags & ZONE_KEY) !== 0 && (flags & SECURE_ENTRY_POINT) === 0;
}

/** RFC 4034 appendix B. @param data of the DNSKEY record */
export function computeKeyTag(data: Uint8Array): number {
  let sum = 0;
  for (const [place, octet] of data.entries()) sum += place % 2 === 0 ? octet << 8 : octet;
  return (sum + (sum >>> 16)) & 0xffff;
}

/**
 * The data of the DS record of a key (RFC 4034 section 5.1), which is that of a CDS record too.
 *
 * @param data of the DNSKEY record
 * @param digest of `DIGEST`
 */
export function encodeDelegationSigner(
  owner: NameKey,
  data: Uint8Array,
  digest: (typeof DIGEST)[keyof typeof DIGEST],
): Uint8Array {
  const tag = computeKeyTag(data);
  const hash = createHash(digest === DIGEST.SHA1 ? 'sha1' : 'sha256')
    .update(encodeName(owner))
    .update(data)
    .digest();
  return Buffer.concat([Uint8Array.of(tag >> 8, tag & 0xff, data[3] ?? 0, digest), hash]);
}
