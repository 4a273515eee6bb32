/**
 * The data of records that name a gateway, whose form depends on a number before it: IPSECKEY (RFC 4025 section 3.1) and AMTRELAY
 * (RFC 8777 section 4.3); and of HIP, which names rendezvous servers (RFC 8005 section 6).
 */
import { encodeName, ROOT } from '@portolan/dns/name.ts';
import type { AbsoluteName } from '@portolan/dns/types.ts';
import { ZoneFileFault, type ZoneWord } from './entries.ts';
import { encodeAddress, encodeBase64, encodeHex, missingField, readName, readNumber } from './word-values.ts';

/** The kinds of gateway by number. */
const GATEWAY = { none: 0, ipv4: 1, ipv6: 2, name: 3 } as const;

/** `PRECEDENCE KIND ALGORITHM GATEWAY [KEY]`. @throws ZoneFileFault */
export function encodeIpsecKey(
  words: readonly ZoneWord[],
  before: ZoneWord,
  origin: AbsoluteName,
): Uint8Array {
  const [precedence, kind, algorithm, gateway, ...key] = words;
  const fields = [precedence, kind, algorithm].map((word) => readOctet(word, words.at(-1) ?? before));
  const octets = encodeGateway(fields[1] ?? 0, gateway, words.at(-1) ?? before, origin);
  return Buffer.concat([
    Uint8Array.from(fields),
    octets,
    key.length === 0 ? new Uint8Array() : encodeBase64(key, before),
  ]);
}

const DISCOVERY_BIT = 0x80;

/** `PRECEDENCE DISCOVERY KIND RELAY`. @throws ZoneFileFault */
export function encodeRelay(words: readonly ZoneWord[], before: ZoneWord, origin: AbsoluteName): Uint8Array {
  const last = words.at(-1) ?? before;
  const [precedence, discovery, kind, relay, extra] = words;
  if (extra !== undefined) throw new ZoneFileFault('more words than AMTRELAY has', extra);
  const isOptional = readOctet(discovery, last, 1) === 1;
  const number = readOctet(kind, last, GATEWAY.name);
  const octets = encodeGateway(number, relay, last, origin);
  return Buffer.concat([
    Uint8Array.of(readOctet(precedence, last), number | (isOptional ? DISCOVERY_BIT : 0)),
    octets,
  ]);
}

/** `ALGORITHM IDENTITY_TAG KEY [SERVER…]`. @throws ZoneFileFault */
export function encodeHostIdentity(
  words: readonly ZoneWord[],
  before: ZoneWord,
  origin: AbsoluteName,
): Uint8Array {
  const last = words.at(-1) ?? before;
  const [algorithm, tag, key, ...servers] = words;
  const number = readOctet(algorithm, last);
  if (tag === undefined || key === undefined) throw missingField(tag === undefined ? 'hex' : 'base64', last);
  const identity = encodeHex([tag], before);
  const publicKey = encodeBase64([key], before);
  if (identity.length === 0 || identity.length > 0xff) throw new ZoneFileFault('not an identity tag', tag);
  const head = Buffer.from([identity.length, number, publicKey.length >> 8, publicKey.length & 0xff]);
  const names = servers.map((server) => encodeName(readName(server, origin)));
  return Buffer.concat([head, identity, publicKey, ...names]);
}

function readOctet(word: ZoneWord | undefined, last: ZoneWord, max = 0xff): number {
  if (word === undefined) throw missingField('uint8', last);
  return readNumber(word, max);
}

function encodeGateway(
  kind: number,
  word: ZoneWord | undefined,
  last: ZoneWord,
  origin: AbsoluteName,
): Uint8Array {
  if (word === undefined) throw missingField('gateway', last);
  switch (kind) {
    case GATEWAY.none:
      if (readName(word, origin) !== ROOT) throw new ZoneFileFault('not the dot that stands for none', word);
      return new Uint8Array();
    case GATEWAY.ipv4:
      return encodeAddress(word, 4);
    case GATEWAY.ipv6:
      return encodeAddress(word, 16);
    case GATEWAY.name:
      return encodeName(readName(word, origin));
    default:
      throw new ZoneFileFault('a gateway of an unknown kind', word);
  }
}
