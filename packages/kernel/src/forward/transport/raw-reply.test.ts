import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import { OctetWriter } from '@portolan/dns/octet-writer.ts';
import { typeOfData, writeData } from '@portolan/dns/record-data.ts';
import type { Message, RecordData, ResourceRecord } from '@portolan/dns/types.ts';
import { describe, expect, it } from 'vitest';
import { scrubReply } from '../scrub-reply.ts';
import { writeQuery } from './query-message.ts';
import { RawReply } from './raw-reply.ts';

const NAME = parseName('www.example.');
const A: RecordData = { kind: 'A', address: '192.0.2.1' };
const AAAA: RecordData = { kind: 'AAAA', address: '2001:db8::1' };
const EDNS = { version: 0, udpSize: 1232, dnssecOk: true, extendedRcode: 0, options: [] };
const OPTION = { code: 10, data: Uint8Array.of(1) };
const EXTENDED_ERROR = { code: 15, data: Uint8Array.of(0, 22) };
const BAD_SUBNET = { code: 8, data: Uint8Array.of(0, 9, 0, 0) };

const record = (data: RecordData, changes: Partial<ResourceRecord> = {}): ResourceRecord => ({
  name: NAME,
  class: 1,
  ttl: 60,
  data,
  ...changes,
});

function replyWith(changes: Partial<Message>): Message {
  const flags = { response: true, opcode: 0, authoritative: true, truncated: false, recursionDesired: true };
  return {
    header: {
      id: 7,
      ...flags,
      recursionAvailable: true,
      authenticData: true,
      checkingDisabled: false,
      rcode: 0,
    },
    questions: [{ name: NAME, type: changes.answers?.[0]?.data.kind === 'AAAA' ? 28 : 1, class: 1 }],
    answers: [],
    authorities: [],
    additionals: [],
    edns: undefined,
    ...changes,
  };
}

function queryFor({ questions }: Pick<Message, 'questions'>) {
  const type = questions[0]?.type ?? 0;
  const flags = { dnssecOk: false, checkingDisabled: false, recursionDesired: true };
  return writeQuery({ name: NAME, type, class: 1, ...flags }, 1232);
}

/** The result for a packet inside a larger memory. */
function take(message: Message, change = (octets: Uint8Array) => octets): RawReply | undefined {
  const [{ type } = { type: 0 }] = message.questions;
  const packet = change(encodeMessage(message));
  const reply = new RawReply();
  const memory = Uint8Array.of(9, 9, ...packet, 9);
  const query = queryFor(message);
  return reply.read(memory, 2, packet.length, query.questionEnd, type, 1) ? reply : undefined;
}

/** The message with the names of its records written out, as CoreDNS sends it. */
function writeOut(octets: Uint8Array): Uint8Array {
  const message = decodeMessage(octets);
  const { answers, authorities } = message;
  const empty = Buffer.from(encodeMessage({ ...message, answers: [], authorities: [] }));
  empty.writeUInt16BE(answers.length, 6);
  empty.writeUInt16BE(authorities.length, 8);
  const { questionEnd } = queryFor(message);
  const writer = new OctetWriter();
  writer.compresses = false;
  for (const { name, class: recordClass, ttl, data } of [...answers, ...authorities]) {
    writer.name(name);
    writer.uint16(typeOfData(data));
    writer.uint16(recordClass);
    writer.uint32(ttl);
    const at = writer.position;
    writer.uint16(0);
    writeData(data, writer);
    new DataView(writer.octets.buffer).setUint16(at, writer.position - at - 2);
  }
  const records = writer.octets.subarray(0, writer.position);
  return Buffer.concat([empty.subarray(0, questionEnd), records, empty.subarray(questionEnd)]);
}

const alias = (name: string, target: string) =>
  record({ kind: 'CNAME', target: parseName(target) }, { name: parseName(name) });
const soa = (zone: string) =>
  record(
    {
      kind: 'SOA',
      primary: parseName('ns.example.'),
      mailbox: parseName('root.else.'),
      serial: 1,
      refresh: 2,
      retry: 3,
      expire: 4,
      minimum: 5,
    },
    { name: parseName(zone) },
  );
const chain = (steps: number) =>
  Array.from({ length: steps }, (_, step) => alias(step === 0 ? 'www.example.' : `${step}.`, `${step + 1}.`));
const NO_SUCH_NAME = { response: true, rcode: 3 };

const plain: readonly Partial<Message>[] = [
  { answers: [record(A)] },
  { answers: [record(AAAA, { ttl: 0 }), record(AAAA, { ttl: 0x7fff_ffff })], edns: EDNS },
  { answers: [record(A)], edns: { ...EDNS, options: [OPTION, { ...OPTION, code: 65_001 }] } },
  {
    answers: [
      alias('www.example.', 'a.Else.'),
      alias('A.else.', 'b.a.else.'),
      record(A, { name: parseName('b.a.else.') }),
    ],
  },
  { authorities: [soa('example.')] },
  { authorities: [soa('.')], header: { ...replyWith({}).header, ...NO_SUCH_NAME }, edns: EDNS },
  { answers: [alias('www.example.', 'a.else.')], authorities: [soa('else.')] },
  { answers: Array.from({ length: 40 }, (_, index) => record(A, { ttl: 100 - index })) },
];

describe('a plain reply', () => {
  it.each(plain)('says the same as the message that it is: %#', (parts) => {
    const message = replyWith(parts);
    const reply = take(message);
    if (reply === undefined) throw new Error('it is not plain');
    const whole = decodeMessage(encodeMessage(message));
    expect(reply.rcode).toBe(whole.header.rcode);
    const { questions, answers, authorities } = whole;
    const records = [...answers, ...authorities];
    const packet = encodeMessage(message);
    expect(decodeMessage(reply.octets.subarray(reply.start, reply.start + packet.length))).toEqual(whole);
    const view = new DataView(packet.buffer, reply.recordsAt - reply.start);
    expect(records.map((_, index) => view.getUint32(reply.ttlOffsets[index] ?? 0))).toEqual(
      records.map(({ ttl }) => ttl),
    );
    const [question = { name: NAME, type: 1, class: 1 }] = questions;
    expect(scrubReply(question, whole)).toEqual({ message: whole, dropped: 0, isLoop: false });
  });

  it.each(plain)('has pointers as owners where the server has written them out: %#', (parts) => {
    const message = replyWith(parts);
    const reply = take(message, (octets) => writeOut(octets));
    if (reply === undefined) throw new Error('it is not plain');
    const { octets, start, recordsAt, recordsLength, addresses, runAt, stride } = reply;
    const whole = decodeMessage(encodeMessage(message));
    const optOctets = reply.hasOpt ? 11 + reply.optionsLength : 0;
    expect(decodeMessage(octets.subarray(start, recordsAt + recordsLength + optOctets))).toEqual(whole);
    const view = new DataView(octets.buffer, octets.byteOffset + recordsAt);
    const records = [...whole.answers, ...whole.authorities];
    expect(records.map((_, index) => view.getUint32(reply.ttlOffsets[index] ?? 0))).toEqual(
      records.map(({ ttl }) => ttl),
    );
    if (addresses === 0) return;
    // The run of addresses ends the records, and each has a pointer.
    expect(runAt + addresses * stride).toBe(recordsLength);
    for (let index = 0; index < addresses; index += 1)
      expect(octets[recordsAt + runAt + index * stride]).toBe(0xc0);
  });

  it('with owners written out is refused if it has pointers too', () => {
    const message = replyWith({ answers: [record(A), record(A)] });
    const whole = encodeMessage(message);
    const at = whole.length - 16;
    const name = whole.subarray(12, 25);
    const mixed = Buffer.concat([whole.subarray(0, at), name, whole.subarray(at + 2)]);
    expect(take(message, () => mixed)).toBeUndefined();
  });

  const header = replyWith({}).header;
  it.each<readonly [string, Partial<Message>]>([
    ['has nothing', {}],
    ['fails', { header: { ...header, rcode: 2 }, authorities: [soa('example.')] }],
    ['denies what it answers', { header: { ...header, rcode: 3 }, answers: [record(A)] }],
    ['answers what it denies', { answers: [record(A)], authorities: [soa('example.')] }],
    ['denies in the name of another zone', { authorities: [soa('else.')] }],
    ['denies twice', { authorities: [soa('example.'), soa('.')] }],
    [
      'leads in a circle',
      { answers: [alias('www.example.', 'b.'), alias('b.', 'WWW.example.')], authorities: [soa('.')] },
    ],
    ['leads nowhere', { answers: [alias('www.example.', 'b.')] }],
    ['leads elsewhere', { answers: [alias('www.example.', 'b.'), record(A)] }],
    ['leads on too long', { answers: chain(9), authorities: [soa('.')] }],
    ['is truncated', { header: { ...header, truncated: true }, answers: [record(A)] }],
    ['has another name', { answers: [record(A, { name: parseName('example.') })] }],
    ['has another type', { answers: [record(A), record(AAAA)] }],
    ['has another class', { answers: [record(A, { class: 3 })] }],
    ['has an alias behind its addresses', { answers: [record(A), alias('www.example.', 'b.')] }],
    ['has authorities', { answers: [record(A)], authorities: [record({ kind: 'NS', target: NAME })] }],
    ['has additional records', { answers: [record(A)], additionals: [record(A)] }],
    ['has an extended error', { answers: [record(A)], edns: { ...EDNS, options: [OPTION, EXTENDED_ERROR] } }],
    ['has a malformed client subnet', { answers: [record(A)], edns: { ...EDNS, options: [BAD_SUBNET] } }],
    ['has a longer response code', { answers: [record(A)], edns: { ...EDNS, extendedRcode: 1 } }],
    ['has another version of EDNS', { answers: [record(A)], edns: { ...EDNS, version: 1 } }],
  ])('is refused if it %s', (_, parts) => {
    expect(take(replyWith(parts))).toBeUndefined();
  });

  it.each<readonly [string, (octets: Uint8Array) => Uint8Array]>([
    ['is cut', (octets) => octets.slice(0, -1)],
    ['goes on behind its records', (octets) => Uint8Array.of(...octets, 0)],
    ['has a TTL that means 0', (octets) => octets.fill(0xff, octets.length - 10, octets.length - 6)],
    ['has an address of another length', (octets) => octets.fill(3, octets.length - 5, octets.length - 4)],
  ])('is refused if it %s', (_, change) => {
    expect(take(replyWith({ answers: [record(A)] }), change)).toBeUndefined();
  });
});
