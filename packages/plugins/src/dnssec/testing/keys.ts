/**
 * Pairs of keys for tests: the examples of RFC 8080 section 6.1, for any zone.
 */
import { parseName, toKey } from '@portolan/dns/name.ts';
import type { NamedKeyPair } from '../options.ts';

const PAIRS = [
  ['l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=', 'ODIyNjAzODQ2MjgwODAxMjI2NDUxOTAyMDQxNDIyNjI='],
  ['zPnZ/QwEe7S8C5SPz2OfS5RR40ATk2/rYnE9xHIEijs=', 'DSSF3o0s0f+ElWzj9E/Osxw8hLpk55chkmx0LYN5WiY='],
] as const;

/** The text of the file with the public key. @param flags 257: a key that signs keys */
export function writePublicKey(zone: string, flags: 256 | 257, which: 0 | 1 = 0): string {
  return `; A comment\n${zone} IN DNSKEY ${flags} 3 15 ${PAIRS[which][0]}\n`;
}

/** The text of the file with the private key. */
export function writePrivateKey(which: 0 | 1 = 0): string {
  return `Private-key-format: v1.3\nAlgorithm: 15 (ED25519)\nPrivateKey: ${PAIRS[which][1]}\nCreated: 20260101000000\n`;
}

export function makeKeyPair(zone: string, flags: 256 | 257, which: 0 | 1 = 0): NamedKeyPair {
  const [publicKey, privateKey] = PAIRS[which];
  return {
    owner: toKey(parseName(zone)),
    ttl: 3600,
    dnskey: Uint8Array.from([flags >> 8, flags & 0xff, 3, 15, ...Buffer.from(publicKey, 'base64')]),
    fields: new Map([['PrivateKey', Buffer.from(privateKey, 'base64')]]),
  };
}
