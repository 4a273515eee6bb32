import { describe, expect, it } from 'vitest';
import { decodeMessage, encodeMessage } from './message.ts';
import { parseName } from './name.ts';
import { presentRecord } from './present.ts';
import { CLASS, type Edns, type Message, type RecordData, type ResourceRecord, TYPE } from './types.ts';
import { WireError } from './wire-error.ts';

const header = {
  id: 0x1234,
  response: true,
  opcode: 0,
  authoritative: true,
  truncated: false,
  recursionDesired: true,
  recursionAvailable: false,
  authenticData: false,
  checkingDisabled: false,
  rcode: 0,
};

const edns: Edns = { version: 0, udpSize: 1232, dnssecOk: false, extendedRcode: 0, options: [] };

function record(name: string, data: RecordData): ResourceRecord {
  return { name: parseName(name), class: CLASS.IN, ttl: 30, data };
}

function response(parts: Partial<Message>): Message {
  const questions = [{ name: parseName('Web.example'), type: TYPE.A, class: CLASS.IN }];
  return { header, questions, answers: [], authorities: [], additionals: [], edns: undefined, ...parts };
}

/** A message with one record in its answer section, from hex: the record's type, class, TTL, length and data. */
function withRecord(fields: string): Uint8Array {
  const question = '03636f6d0000010001';
  return Buffer.from(`123481000001000100000000${question}c00c${fields}`, 'hex');
}

const a = (address: string) => record('Web.example', { kind: 'A', address });
const addresses = (count: number) =>
  Array.from({ length: count }, (_, index) => a(`10.0.${index >> 8}.${index & 255}`));

describe('encodeMessage', () => {
  it('writes header, question and records with pointers', () => {
    const message = response({ answers: [a('10.0.0.1')], edns });
    expect(Buffer.from(encodeMessage(message)).toString('hex')).toBe(
      [
        '1234 8500 0001 0001 0000 0001',
        '03576562 076578616d706c65 00 0001 0001',
        'c00c 0001 0001 0000001e 0004 0a000001',
        '00 0029 04d0 00000000 0000',
      ]
        .join('')
        .replaceAll(' ', ''),
    );
  });

  it.each<[RecordData['kind'], RecordData, number]>([
    ['CNAME', { kind: 'CNAME', target: parseName('x.example') }, 4],
    ['NS', { kind: 'NS', target: parseName('x.example') }, 4],
    ['PTR', { kind: 'PTR', target: parseName('web.EXAMPLE') }, 2],
    ['MX', { kind: 'MX', preference: 1, exchange: parseName('example') }, 4],
    ['DNAME', { kind: 'DNAME', target: parseName('x.example') }, 11],
    ['SRV', { kind: 'SRV', priority: 0, weight: 0, port: 1, target: parseName('x.example') }, 17],
    ['SVCB', { kind: 'SVCB', priority: 1, target: parseName('x.example'), parameters: [] }, 13],
  ])('compresses in %s what RFC 3597 allows', (_, data, length) => {
    const bytes = encodeMessage(response({ answers: [record('Web.example', data)] }));
    // Header, question, and the record up to its data.
    expect(bytes.length).toBe(12 + 17 + 12 + length);
  });

  it('points to names inside data that may not be compressed itself', () => {
    const target = parseName('endpoint.Web.example');
    const srv = record('Web.example', { kind: 'SRV', priority: 0, weight: 0, port: 1, target });
    const message = response({
      answers: [srv],
      additionals: [record('endpoint.Web.example', { kind: 'A', address: '10.0.0.1' })],
    });
    const bytes = encodeMessage(message);
    expect(bytes.length).toBe(12 + 17 + (12 + 6 + 22) + 16);
    expect(decodeMessage(bytes).additionals).toEqual(message.additionals);
  });

  it('never points beyond what 14 bits reach', () => {
    const filler = Array.from({ length: 70 }, (_, index) =>
      record(`filler${index}`, { kind: 'TXT', strings: [new Uint8Array(255)] }),
    );
    const late = Array.from({ length: 3 }, () => record('late.name', { kind: 'A', address: '10.0.0.1' }));
    const message = response({ answers: [...filler, ...late] });
    const bytes = encodeMessage(message);
    expect(bytes.length).toBeGreaterThan(0x4000);
    expect(decodeMessage(bytes).answers).toEqual(message.answers);
  });

  it('cuts at 65,535 octets', () => {
    const message = response({ answers: addresses(5000), edns });
    const bytes = encodeMessage(message);
    const cut = decodeMessage(bytes);
    expect(bytes.length).toBeLessThanOrEqual(65_535);
    expect(cut.answers).toEqual(message.answers.slice(0, Math.floor((65_535 - 29 - 11) / 16)));
    expect(cut.header.truncated).toBe(true);
    expect(cut.edns).toEqual(edns);
  });

  it('sets TC only when answers had to go (RFC 2181 section 9)', () => {
    const ns = record('example', { kind: 'NS', target: parseName('ns.example') });
    const glue = Array.from({ length: 40 }, (_, index) =>
      record('ns.example', { kind: 'A', address: `10.0.0.${index}` }),
    );
    const message = response({ answers: addresses(20), authorities: [ns], additionals: glue });
    const cut = decodeMessage(encodeMessage(message, { limit: 512 }));
    expect(cut.header.truncated).toBe(false);
    expect(cut.answers.length).toBe(20);
    expect(cut.authorities.length).toBe(1);
    // A partial record set would be worse than an empty section.
    expect(cut.additionals).toEqual([]);
  });

  it('sets TC when a part of a referral or a denial had to go (RFC 9471)', () => {
    const servers = Array.from({ length: 13 }, (_, index) =>
      record('sub.example', { kind: 'NS', target: parseName(`name-server-${index}.sub.example`) }),
    );
    const glue = servers.map(({ data }, index) =>
      record(data.kind === 'NS' ? data.target : '', { kind: 'A', address: `10.0.0.${index}` }),
    );
    const cut = (authorities: readonly ResourceRecord[], additionals: readonly ResourceRecord[]) =>
      decodeMessage(encodeMessage(response({ authorities, additionals }), { limit: 512 })).header.truncated;
    expect(cut(servers, glue)).toBe(true);
    expect(cut(servers.slice(0, 2), glue.slice(0, 2))).toBe(false);
    const long = Array.from({ length: 40 }, () => servers[0]).filter((each) => each !== undefined);
    expect(cut(long, [])).toBe(true);
  });

  it('leaves out authorities before answers', () => {
    const soa = record('example', {
      kind: 'SOA',
      primary: parseName('ns.example'),
      mailbox: parseName('hostmaster.example'),
      serial: 1,
      refresh: 2,
      retry: 3,
      expire: 4,
      minimum: 5,
    });
    const message = response({ answers: addresses(30), authorities: [soa], edns });
    const cut = decodeMessage(encodeMessage(message, { limit: 540 }));
    expect(cut).toMatchObject({
      answers: message.answers,
      authorities: [],
      edns,
      header: { truncated: false },
    });
  });

  it('keeps the record sets that fit whole', () => {
    const set = (name: string, count: number) =>
      Array.from({ length: count }, () => record(name, { kind: 'A', address: '10.0.0.1' }));
    const message = response({ additionals: [...set('a.example', 20), ...set('b.example', 20)] });
    const cut = decodeMessage(encodeMessage(message, { limit: 512 }));
    expect(cut.additionals).toEqual(set('a.example', 20));
    expect(cut.header.truncated).toBe(false);
  });

  it('takes a limit below 512 for 512', () => {
    const bytes = encodeMessage(response({ answers: addresses(100) }), { limit: 100 });
    expect(bytes.length).toBe(29 + 30 * 16);
  });

  it.each<RecordData>([
    { kind: 'A', address: '2001:db8::1' },
    { kind: 'AAAA', address: '10.0.0.1' },
    { kind: 'A', address: 'localhost' },
    { kind: 'TXT', strings: [] },
    { kind: 'TXT', strings: [new Uint8Array(256)] },
  ])('refuses data that has no wire form: %j', (data) => {
    const broken = response({ answers: [record('Web.example', data)] });
    expect(() => encodeMessage(broken)).toThrow(expect.objectContaining({ name: 'RecordDataError' }));
    const sound = response({ answers: [a('10.0.0.1')] });
    expect(decodeMessage(encodeMessage(sound))).toMatchObject({
      answers: [{ data: { address: '10.0.0.1' } }],
    });
  });
});

describe('decodeMessage', () => {
  it.each([
    ['compressed names in CNAME', '0005 0001 0000001e 0006 03777777 c00c', 'CNAME www.com.'],
    ['compressed names in SRV', '0021 0001 0000001e 0008 0001 0002 0050 c00c', 'SRV 1 2 80 com.'],
    [
      'compressed names in MINFO',
      '000e 0001 0000001e 0006 c00c 0161 c00c',
      'MINFO \\# 12 03636F6D00016103636F6D00',
    ],
    ['compressed names in RP', '0011 0001 0000001e 0004 c00c c00c', 'RP \\# 10 03636F6D0003636F6D00'],
    ['compressed names in AFSDB', '0012 0001 0000001e 0004 0001 c00c', 'AFSDB \\# 7 000103636F6D00'],
    ['what stands behind a name in NXT', '001e 0001 0000001e 0004 c00c 4001', 'NXT \\# 7 03636F6D004001'],
    ['no names in types of today', '002b 0001 0000001e 0004 c00c c00c', 'DS \\# 4 C00CC00C'],
  ])('expands %s', (_, fields, shown) => {
    const [answer] = decodeMessage(withRecord(fields.replaceAll(' ', ''))).answers;
    expect(answer && presentRecord(answer)).toBe(`com. 30 IN ${shown}`);
  });

  it('takes a TTL with its top bit set for 0 (RFC 2181 section 8)', () => {
    const ttls = ['7fffffff', '80000000', 'ffffffff'].map(
      (ttl) => decodeMessage(withRecord(`00010001${ttl}00040a000001`)).answers[0]?.ttl,
    );
    expect(ttls).toEqual([0x7fff_ffff, 0, 0]);
  });

  it('knows A only in class IN, and no data in conditions of updates', () => {
    const decodeData = (fields: string) => decodeMessage(withRecord(fields)).answers[0]?.data;
    expect(decodeData('000100030000001e00020102')).toEqual({
      kind: 'unknown',
      type: 1,
      bytes: Uint8Array.of(1, 2),
    });
    expect(decodeData('000600ff0000001e0000')).toEqual({ kind: 'unknown', type: 6, bytes: Uint8Array.of() });
    expect(decodeData('001000030000001e00020161')).toEqual({ kind: 'TXT', strings: [Uint8Array.of(0x61)] });
  });

  it('ignores octets behind the last record', () => {
    const bytes = encodeMessage(response({ answers: [a('10.0.0.1')], edns }));
    expect(decodeMessage(Buffer.concat([bytes, Buffer.alloc(7, 0xff)]))).toEqual(decodeMessage(bytes));
  });

  it('keeps nothing of the memory that it read', () => {
    const bytes = Buffer.from(withRecord('001000010000001e0003026869'));
    const before = decodeMessage(bytes);
    bytes.fill(0xff);
    expect(before.answers[0]?.data).toEqual({ kind: 'TXT', strings: [Uint8Array.from(Buffer.from('hi'))] });
  });

  it.each([
    ['A of 3 octets', '000100010000001e00030a0000', 33],
    ['A of 5 octets', '000100010000001e00050a00000101', 37],
    ['A of none', '000100010000001e0000', 33],
    ['data beyond the message', '000100010000001e00050a000001', 33],
    ['TXT beyond its data', '001000010000001e0002056869', 34],
    ['TXT without a string', '001000010000001e0000', 33],
    ['a name beyond its data', '000500010000001e0002016100', 33],
    ['CAA without a tag', '010100010000001e00020000', 35],
    ['SVCB with half a parameter', '004000010000001e00060001000001ff', 38],
    ['OPT among the answers', '002904d0000000000000', 21],
    ['nothing behind the owner', '', 23],
  ])('refuses %s', (_, fields, offset) => {
    const decode = () => decodeMessage(withRecord(fields));
    expect(decode).toThrow(WireError);
    expect(decode).toThrow(expect.objectContaining({ offset }));
  });

  it.each([
    ['no header', '1234', 2],
    ['counts without records', '12348000ffffffffffffffff', 12],
    ['two OPT records', '12348000 0000000000000002 00002904d0000000000000 00002904d0000000000000', 23],
    ['OPT below the root', '12348000 0000000000000001 0161 00002904d0000000000000', 17],
    ['an OPT option beyond its record', '12348000 0000000000000001 00002904d0000000000005 0003000200', 27],
    ['OPT beyond the message', '12348000 0000000000000001 00002904d0000000000004', 23],
  ])('refuses %s', (_, hex, offset) => {
    const decode = () => decodeMessage(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
    expect(decode).toThrow(WireError);
    expect(decode).toThrow(expect.objectContaining({ offset }));
  });
});
