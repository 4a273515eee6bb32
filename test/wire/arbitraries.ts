/**
 * Random messages: every kind of record data, names with common suffixes (for compression) and octets of every value in
 * labels.
 */
import { formatAddress } from '@portolan/dns/address.ts';
import { toKey } from '@portolan/dns/name.ts';
import { decodeName } from '@portolan/dns/name-wire.ts';
import {
  type AbsoluteName,
  CLASS,
  type Edns,
  type Header,
  type Message,
  type Question,
  type RecordData,
  type ResourceRecord,
  type WireName,
} from '@portolan/dns/types.ts';
import fc from 'fast-check';

const uint8 = fc.nat({ max: 0xff });
const uint16 = fc.nat({ max: 0xffff });
const uint32 = fc.nat({ max: 0xffff_ffff });
const octets = (maxLength: number, minLength = 0) => fc.uint8Array({ minLength, maxLength });

function nameOfLabels(labels: readonly Uint8Array[]): AbsoluteName {
  const wire = labels.flatMap((label) => [label.length, ...label]);
  return decodeName(Uint8Array.from([...wire, 0]) as WireName); // Lengths are bounded below.
}

const label = fc.oneof(
  octets(8, 1),
  octets(63, 1),
  fc.constantFrom('www', 'default', 'svc', 'cluster', 'local', 'a\\.b').map((text) => Buffer.from(text)),
);

/** Any name, capitals kept. */
export const arbitraryName: fc.Arbitrary<AbsoluteName> = fc
  .array(label, { maxLength: 12 })
  .filter((labels) => labels.reduce((length, { length: octets }) => length + octets + 1, 1) <= 255)
  .map(nameOfLabels);

/** Names in lower case: compression may change capitals, never more. */
const name = arbitraryName.map((name): AbsoluteName => toKey(name));

const parameter = fc.record({ key: uint16, value: octets(20) });
const target = { target: name };

const arbitraryData: fc.Arbitrary<RecordData> = fc.oneof(
  octets(4, 4).map((bytes): RecordData => ({ kind: 'A', address: formatAddress(bytes) })),
  octets(16, 16).map((bytes): RecordData => ({ kind: 'AAAA', address: formatAddress(bytes) })),
  fc.record({ kind: fc.constantFrom('CNAME', 'DNAME', 'NS', 'PTR'), ...target }),
  fc.record({
    kind: fc.constant('SOA'),
    primary: name,
    mailbox: name,
    serial: uint32,
    refresh: uint32,
    retry: uint32,
    expire: uint32,
    minimum: uint32,
  }),
  fc.record({ kind: fc.constant('MX'), preference: uint16, exchange: name }),
  fc.record({ kind: fc.constant('TXT'), strings: fc.array(octets(255), { minLength: 1, maxLength: 3 }) }),
  fc.record({ kind: fc.constant('SRV'), priority: uint16, weight: uint16, port: uint16, ...target }),
  fc.record({ kind: fc.constant('HINFO'), cpu: octets(20), os: octets(255) }),
  fc.record({
    kind: fc.constant('NAPTR'),
    order: uint16,
    preference: uint16,
    flags: octets(3),
    services: octets(20),
    regexp: octets(40),
    replacement: name,
  }),
  fc.record({
    kind: fc.constant('CAA'),
    flags: uint8,
    tag: fc.stringMatching(/^[a-z0-9]{1,15}$/),
    value: octets(300),
  }),
  fc.record({
    kind: fc.constantFrom('SVCB', 'HTTPS'),
    priority: uint16,
    ...target,
    parameters: fc.array(parameter, { maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant('unknown'),
    type: fc.constantFrom(10, 43, 46, 99, 256, 65_280, 65_534),
    bytes: octets(40),
  }),
);

export const arbitraryRecord: fc.Arbitrary<ResourceRecord> = fc.record({
  name,
  class: fc.constant(CLASS.IN),
  ttl: fc.nat({ max: 0x7fff_ffff }),
  data: arbitraryData,
});

export const arbitraryQuestion: fc.Arbitrary<Question> = fc.record({ name, type: uint16, class: uint16 });

/** Its data cannot be any octets. */
const CLIENT_SUBNET = 8;
const optionCode = uint16.filter((code) => code !== CLIENT_SUBNET);

export const arbitraryEdns: fc.Arbitrary<Edns> = fc.record({
  version: fc.constantFrom(0, 0, 0, 1),
  udpSize: uint16,
  dnssecOk: fc.boolean(),
  extendedRcode: uint8,
  options: fc.array(fc.record({ code: optionCode, data: octets(24) }), { maxLength: 3 }),
});

export const arbitraryHeader: fc.Arbitrary<Header> = fc.record({
  id: uint16,
  response: fc.boolean(),
  opcode: fc.nat({ max: 15 }),
  authoritative: fc.boolean(),
  truncated: fc.boolean(),
  recursionDesired: fc.boolean(),
  recursionAvailable: fc.boolean(),
  authenticData: fc.boolean(),
  checkingDisabled: fc.boolean(),
  rcode: fc.nat({ max: 15 }),
});

const section = fc.array(arbitraryRecord, { maxLength: 6 });

/** Small enough never to be cut. */
export const arbitraryMessage: fc.Arbitrary<Message> = fc.record({
  header: arbitraryHeader,
  questions: fc.array(arbitraryQuestion, { maxLength: 2 }),
  answers: section,
  authorities: section,
  additionals: section,
  edns: fc.option(arbitraryEdns, { nil: undefined }),
});

/** Queries that nothing is wrong with. */
export const arbitraryQuery: fc.Arbitrary<Message> = fc.record({
  header: arbitraryHeader.map((header) => ({ ...header, response: false, opcode: 0 })),
  questions: arbitraryQuestion.map((question) => [question]),
  answers: fc.constant([]),
  authorities: fc.array(arbitraryRecord, { maxLength: 1 }),
  additionals: fc.array(arbitraryRecord, { maxLength: 1 }),
  edns: fc.option(arbitraryEdns, { nil: undefined }),
});

/** Octets nearly as a message has them: some changed, taken away or added, or none. */
export function arbitraryDamage(
  message: fc.Arbitrary<Message>,
  encode: (message: Message) => Uint8Array,
): fc.Arbitrary<Uint8Array> {
  const changes = fc.array(fc.tuple(fc.nat(), uint8), { maxLength: 4 });
  const length = fc.option(fc.nat({ max: 600 }), { nil: undefined, freq: 3 });
  return fc.tuple(message.map(encode), changes, length).map(([bytes, changed, newLength]) => {
    for (const [position, octet] of changed) bytes[position % bytes.length] = octet;
    if (newLength === undefined) return bytes;
    const resized = new Uint8Array(newLength);
    resized.set(bytes.subarray(0, newLength));
    return resized;
  });
}
