/**
 * Nodes and answers for tests of the table, made with dns-packet: an encoder that shares nothing with ours.
 */
import type { WireName } from '@portolan/dns/types.ts';
import { encode, type Packet, type StringAnswer } from 'dns-packet';
import type {
  AnswerBody,
  CachedAnswer,
  ListenerGroupViews,
  NameNode,
  ViewId,
  ZoneId,
  ZoneSettings,
} from '../types.ts';

/** A name in wire form, as given (lower case it yourself). */
export function wire(name: string): WireName {
  const labels = name.split('.').filter((label) => label.length > 0);
  const octets = labels.flatMap((label) => [label.length, ...Buffer.from(label, 'latin1')]);
  // Test names are short and plain.
  return Uint8Array.from([...octets, 0]) as WireName;
}

/** The body of an A answer: 16 octets a record, each pointing at the question. */
export function addressBody(addresses: readonly string[], ttl = 30): AnswerBody {
  const bytes = addresses.flatMap((address) => [
    0xc0,
    12,
    0,
    1,
    0,
    1,
    (ttl >>> 24) & 0xff,
    (ttl >>> 16) & 0xff,
    (ttl >>> 8) & 0xff,
    ttl & 0xff,
    0,
    4,
    ...address.split('.').map(Number),
  ]);
  return {
    rcode: 0,
    authoritative: true,
    answerCount: addresses.length,
    authorityCount: 0,
    additionalCount: 0,
    bytes: Uint8Array.from(bytes),
    rotation: addresses.length > 1 ? { start: 0, stride: 16, count: addresses.length } : undefined,
  };
}

export function node(name: string, zone: ZoneId, changes: Partial<NameNode> = {}): NameNode {
  return {
    name: wire(name),
    zone,
    below: { kind: 'complete' },
    otherTypes: 'nodata',
    outcome: 1,
    answers: new Map(),
    ...changes,
  };
}

export function addressNode(name: string, zone: ZoneId, addresses: readonly string[]): NameNode {
  return node(name, zone, { answers: new Map([[1, addressBody(addresses)]]) });
}

export function cachedAddress(name: string, address: string, lifetime: number): CachedAnswer {
  return {
    name: wire(name),
    type: 1,
    class: 1,
    dnssecOk: false,
    checkingDisabled: false,
    recursionAvailable: true,
    body: { ...addressBody([address], lifetime), authoritative: false, authenticData: false },
    ttlOffsets: [6],
    lifetime,
    outcome: 2,
  };
}

export function settings(apex: string, changes: Partial<ZoneSettings> = {}): ZoneSettings {
  const numbers = new DataView(new ArrayBuffer(20));
  for (const [index, value] of [7, 7200, 1800, 86400, 30].entries()) numbers.setUint32(index * 4, value);
  return {
    apex: wire(apex),
    known: true,
    soaData: Uint8Array.from([
      ...wire(`ns.dns.${apex}`),
      ...wire(`hostmaster.${apex}`),
      ...new Uint8Array(numbers.buffer),
    ]),
    negativeTtl: 30,
    authoritativeNxdomain: true,
    askWildcards: false,
    ...changes,
  };
}

/** Shows one view to all clients of a listener group, for all names. */
export function showAll(view: ViewId): ListenerGroupViews {
  return { prefixes: [], others: { kind: 'views', zones: [{ zone: wire('.'), view }] } };
}

/** A query in a packet with room for the response. */
export function query(
  name: string,
  type: StringAnswer['type'] | string,
  changes: Partial<Packet> = {},
): { packet: Uint8Array; length: number } {
  // The types of dns-packet list fewer record types than it encodes.
  const question = { type: type as 'A', name };
  const bytes = encode({ type: 'query', id: 4711, flags: 0x100, questions: [question], ...changes });
  const packet = new Uint8Array(65_535 + 64);
  packet.set(bytes);
  return { packet, length: bytes.length };
}
