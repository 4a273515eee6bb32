/**
 * Compares with the package `dns-packet`: it reads our messages and we read its messages.
 */
import { formatAddress } from '@portolan/dns/address.ts';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, type Message, RCODE, type RecordData, TYPE } from '@portolan/dns/types.ts';
import dnsPacket, { type Answer, type Packet } from 'dns-packet';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

/** Record data in Portolan's form, and in that of dns-packet. */
interface Pair {
  readonly ours: RecordData;
  readonly theirs: Pick<Answer, 'type'> & { readonly data: unknown };
}

const uint16 = fc.nat({ max: 0xffff });
const uint32 = fc.nat({ max: 0xffff_ffff });
const word = fc.stringMatching(/^[a-z0-9-]{1,12}$/);
const latin = fc.stringMatching(/^[ -~]{0,30}$/);
/** Without the final dot, as dns-packet has names. */
const host = fc.array(word, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.'));

const octets = (text: string) => Uint8Array.from(Buffer.from(text));

const pair: fc.Arbitrary<Pair> = fc.oneof(
  fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes): Pair => {
    const address = formatAddress(bytes);
    return { ours: { kind: 'A', address }, theirs: { type: 'A', data: address } };
  }),
  fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes): Pair => {
    const address = formatAddress(bytes);
    return { ours: { kind: 'AAAA', address }, theirs: { type: 'AAAA', data: address } };
  }),
  fc.tuple(fc.constantFrom('CNAME', 'DNAME', 'NS', 'PTR'), host).map(
    ([kind, target]): Pair => ({
      ours: { kind, target: parseName(target) },
      theirs: { type: kind, data: target },
    }),
  ),
  fc.tuple(host, host, uint32, uint32).map(
    ([mname, rname, serial, minimum]): Pair => ({
      ours: {
        kind: 'SOA',
        primary: parseName(mname),
        mailbox: parseName(rname),
        serial,
        refresh: 1,
        retry: 2,
        expire: 3,
        minimum,
      },
      theirs: { type: 'SOA', data: { mname, rname, serial, refresh: 1, retry: 2, expire: 3, minimum } },
    }),
  ),
  fc.tuple(uint16, host).map(
    ([preference, exchange]): Pair => ({
      ours: { kind: 'MX', preference, exchange: parseName(exchange) },
      theirs: { type: 'MX', data: { preference, exchange } },
    }),
  ),
  fc.array(fc.uint8Array({ minLength: 1, maxLength: 255 }), { minLength: 1, maxLength: 3 }).map(
    (strings): Pair => ({
      ours: { kind: 'TXT', strings },
      theirs: { type: 'TXT', data: strings.map((string) => Buffer.from(string)) },
    }),
  ),
  fc.tuple(uint16, uint16, uint16, host).map(
    ([priority, weight, port, target]): Pair => ({
      ours: { kind: 'SRV', priority, weight, port, target: parseName(target) },
      theirs: { type: 'SRV', data: { priority, weight, port, target } },
    }),
  ),
  fc.tuple(latin, latin).map(
    ([cpu, os]): Pair => ({
      ours: { kind: 'HINFO', cpu: octets(cpu), os: octets(os) },
      theirs: { type: 'HINFO', data: { cpu, os } },
    }),
  ),
  fc.tuple(uint16, uint16, latin, host).map(
    ([order, preference, regexp, replacement]): Pair => ({
      ours: {
        kind: 'NAPTR',
        order,
        preference,
        flags: octets('u'),
        services: octets('E2U+sip'),
        regexp: octets(regexp),
        replacement: parseName(replacement),
      },
      theirs: {
        type: 'NAPTR',
        data: { order, preference, flags: 'u', services: 'E2U+sip', regexp, replacement },
      },
    }),
  ),
  fc.tuple(fc.constantFrom('issue', 'issuewild', 'iodef'), fc.boolean(), latin).map(
    ([tag, critical, value]): Pair => ({
      ours: { kind: 'CAA', flags: critical ? 128 : 0, tag, value: octets(value) },
      theirs: { type: 'CAA', data: { tag, value, flags: critical ? 128 : 0, issuerCritical: critical } },
    }),
  ),
);

const records = fc.array(fc.tuple(host, fc.nat({ max: 0x7fff_ffff }), pair), { maxLength: 8 });

function ourMessage(sample: readonly (readonly [string, number, Pair])[]): Message {
  return {
    header: {
      id: 4711,
      response: true,
      opcode: 0,
      authoritative: true,
      truncated: false,
      recursionDesired: true,
      recursionAvailable: false,
      authenticData: false,
      checkingDisabled: true,
      rcode: RCODE.NOERROR,
    },
    questions: [{ name: parseName('www.example.com'), type: TYPE.AAAA, class: CLASS.IN }],
    answers: sample.map(([name, ttl, { ours }]) => ({
      name: parseName(name),
      class: CLASS.IN,
      ttl,
      data: ours,
    })),
    authorities: [],
    additionals: [],
    edns: { version: 0, udpSize: 1400, dnssecOk: true, extendedRcode: 0, options: [] },
  };
}

function theirPacket(sample: readonly (readonly [string, number, Pair])[]): Packet {
  return {
    type: 'response',
    id: 4711,
    flags: dnsPacket.AUTHORITATIVE_ANSWER | dnsPacket.RECURSION_DESIRED | dnsPacket.CHECKING_DISABLED,
    questions: [{ name: 'www.example.com', type: 'AAAA', class: 'IN' }],
    // Each pair was made with the data that belongs to its type.
    answers: sample.map(([name, ttl, { theirs }]) => ({ name, ttl, class: 'IN', ...theirs }) as Answer),
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: 1400,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: dnsPacket.DNSSEC_OK,
        flag_do: true,
        options: [],
      },
    ],
  };
}

describe('dns-packet', () => {
  it('reads what we write', () => {
    fc.assert(
      fc.property(records, (sample) => {
        const read = dnsPacket.decode(Buffer.from(encodeMessage(ourMessage(sample))));
        const { answers, questions, additionals } = theirPacket(sample);
        expect(read).toMatchObject({
          id: 4711,
          type: 'response',
          flag_aa: true,
          flag_rd: true,
          flag_cd: true,
          flag_tc: false,
          rcode: 'NOERROR',
          questions,
        });
        expect(read.answers).toEqual(answers?.map((answer) => ({ ...answer, flush: false })));
        expect(read.additionals).toEqual(additionals);
      }),
      { numRuns: 300 },
    );
  });

  it('writes what we read', () => {
    fc.assert(
      fc.property(records, (sample) => {
        expect(decodeMessage(dnsPacket.encode(theirPacket(sample)))).toEqual(ourMessage(sample));
      }),
      { numRuns: 300 },
    );
  });
});
