import { decodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeDnsPacket, encodeDnsPacket } from '../../base/grpc/dns-packet.ts';
import { encodeGrpcFrame } from '../../base/grpc/grpc-frames.ts';
import { makeGrpcRequest } from './grpc-request.ts';
import { writeQuery } from './query-message.ts';

const QUESTION = { name: parseName('a.example.'), type: TYPE.A, class: CLASS.IN };
const FLAGS = { dnssecOk: true, checkingDisabled: true, recursionDesired: true };
const { octets: QUERY } = writeQuery({ ...QUESTION, ...FLAGS }, 1232, true);
const TYPE_OF_GRPC = { 'content-type': 'application/grpc+proto' };
const OK = { 'grpc-status': '0' };

/** What the reader of a call says. Undefined: it takes the reply. */
function read(
  pieces: readonly Uint8Array[],
  {
    headers = TYPE_OF_GRPC,
    trailers = OK,
    status = 200,
  }: {
    readonly headers?: Readonly<Record<string, string>>;
    readonly trailers?: Readonly<Record<string, string>>;
    readonly status?: number;
  } = {},
) {
  const reader = makeGrpcRequest('localhost', QUERY).createReader();
  const fault =
    reader.begin(status, headers) ??
    pieces.map((piece) => reader.add(Buffer.from(piece))).find((each) => each !== undefined) ??
    reader.end(trailers);
  return fault ?? Buffer.from(reader.take()).toString('hex');
}

const hex = (octets: Uint8Array) => Buffer.from(octets).toString('hex');

it('holds the query', () => {
  const { body, headers, path } = makeGrpcRequest('localhost', QUERY);
  expect(hex(decodeDnsPacket(Buffer.from(body ?? []).subarray(5)))).toBe(hex(QUERY));
  expect({ path, ...headers }).toEqual({
    path: '/coredns.dns.DnsService/Query',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
});

describe('the reply of a call', () => {
  it('is the message, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat({ max: 300 }), (message, cut) => {
        const frame = encodeDnsPacket(message);
        expect(read([frame.subarray(0, cut), frame.subarray(cut)])).toBe(hex(message));
      }),
    );
  });

  it('is NXDOMAIN for the status NOT_FOUND: the question alone', () => {
    const found = [
      read([], { trailers: { 'grpc-status': '5', 'grpc-message': 'no such name' } }),
      read([], { headers: { ...TYPE_OF_GRPC, 'grpc-status': '5' }, trailers: {} }),
    ];
    for (const reply of found)
      expect(decodeMessage(Buffer.from(reply, 'hex'))).toMatchObject({
        header: { response: true, rcode: 3, recursionDesired: true, authenticData: false },
        questions: [QUESTION],
        answers: [],
        additionals: [],
        edns: undefined,
      });
  });

  it.each([
    [[], { status: 503, headers: {} }, 'gRPC status 14: HTTP status 503'],
    [
      [],
      { headers: { 'content-type': 'text/html' } },
      'gRPC status 2: not an answer of gRPC: content-type text/html',
    ],
    [[], { trailers: { 'grpc-status': '14', 'grpc-message': 'a%0Ab' } }, 'gRPC status 14: a?b'],
    [
      [],
      { trailers: { 'grpc-status': '2', 'grpc-message': 'x'.repeat(5000) } },
      `gRPC status 2: ${'x'.repeat(200)}`,
    ],
    [[], { trailers: { 'grpc-status': '7' } }, 'gRPC status 7'],
    [[], {}, 'an answer without a whole message'],
    [[encodeDnsPacket(QUERY).subarray(0, 9)], {}, 'an answer without a whole message'],
    [[encodeDnsPacket(QUERY)], { trailers: {} }, 'an answer without a status'],
    [[encodeDnsPacket(QUERY), encodeDnsPacket(QUERY)], {}, 'more than one message'],
    [[Buffer.from('00ffffffff', 'hex')], {}, 'a message larger than max: 4294967295 octets'],
    [[Buffer.from('0100000000', 'hex')], {}, 'a message of a compression that was not offered'],
    [[encodeGrpcFrame(Buffer.from([10, 9]))], {}, 'not a Protocol Buffers message: a field is cut off'],
  ] as const)('is missing: %#', (pieces, parts, fault) => expect(read(pieces, parts)).toBe(fault));

  it('is some octets or missing, whatever comes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 5 }), (pieces) => {
        expect(read(pieces)).toBeTypeOf('string');
      }),
    );
  });
});
