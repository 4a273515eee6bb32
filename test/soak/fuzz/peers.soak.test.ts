/**
 * Fuzzes what other processes send beside DNS: frames and statuses of gRPC, messages of etcd, cached answers of the process before
 * this one, HTTP requests, captures, dnstap and query logs of other servers.
 */
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import {
  decodeAuthenticate,
  decodeLease,
  decodeRange,
  decodeTransaction,
  decodeWatch,
} from '@portolan/etcd/source/client/messages.ts';
import { decodeDnsPacket, encodeDnsPacket } from '@portolan/kernel/base/grpc/dns-packet.ts';
import { encodeGrpcFrame, GrpcFrameReader } from '@portolan/kernel/base/grpc/grpc-frames.ts';
import { readGrpcStatus } from '@portolan/kernel/base/grpc/grpc-status.ts';
import { makeGrpcRequest } from '@portolan/kernel/forward/transport/grpc-request.ts';
import { readListLine } from '@portolan/ops/compare/asked-question.ts';
import { CaptureReader } from '@portolan/ops/shadow/capture-reader.ts';
import { readLogLine } from '@portolan/ops/shadow/log-line.ts';
import { readDatagram } from '@portolan/ops/shadow/packet-layers.ts';
import { questionOfPacket } from '@portolan/ops/shadow/query-packet.ts';
import {
  encodePcap,
  encodePcapng,
  ipv4Packet,
  ipv6Packet,
  makeFrames,
} from '@portolan/ops/shadow/testing/sample-captures.ts';
import { CONTROL, controlFrame, dataFrame, FrameReader } from '@portolan/plugins/dnstap/frame-stream.ts';
import { readClientQuery } from '@portolan/plugins/dnstap/read-tap-message.ts';
import { encodeFrame, TAP_TYPE } from '@portolan/plugins/dnstap/tap-message.ts';
import { HandoverReader, writeRecord } from '@portolan/server/handover-format.ts';
import { readFirstRequest } from '@portolan/server/observe/http-first-request.ts';
import { expect, it } from 'vitest';
import { encodeText, type FuzzTarget, fuzz } from './fuzz.ts';

/** Runs a parser that may refuse its input, with errors of these names. */
function refusing(names: readonly string[], parse: () => void): void {
  try {
    parse();
  } catch (error) {
    if (!(error instanceof Error) || !names.includes(error.name)) throw error;
  }
}

/** Cuts octets at places that they choose themselves. */
function* splitPieces(input: Uint8Array): Generator<Buffer> {
  for (let at = 0; at < input.length; ) {
    const end = Math.min(input.length, at + 1 + ((input[at] ?? 0) & 15));
    yield Buffer.from(input.subarray(at, end));
    at = end;
  }
}

const OCTET_WORDS = [
  '00',
  '01',
  '7f',
  'ff',
  '00000000',
  '00000005',
  '7fffffff',
  'ffffffff',
  'ffffffffffffffff01',
].map((digits) => Buffer.from(digits, 'hex'));

it('frames of gRPC', async () => {
  const limit = 1000;
  const run: FuzzTarget['run'] = (input) => {
    const whole: Buffer[] = [];
    const cut: Buffer[] = [];
    refusing(['FrameError'], () =>
      new GrpcFrameReader(limit).push(Buffer.from(input), (each) => whole.push(each)),
    );
    refusing(['FrameError'], () => {
      const reader = new GrpcFrameReader(limit);
      for (const piece of splitPieces(input)) reader.push(piece, (each) => cut.push(each));
    });
    expect(cut.map(String)).toEqual(whole.map(String));
    for (const { length } of whole) expect(length).toBeLessThanOrEqual(limit);
  };
  const seeds = [
    encodeGrpcFrame(encodeText('abc')),
    Buffer.concat([encodeGrpcFrame(encodeText('')), encodeGrpcFrame(encodeText('x'))]),
  ];
  await fuzz('gRPC frames', { seeds, words: OCTET_WORDS, run });
}, 300_000);

it('calls of DNS over gRPC', async () => {
  const message = Buffer.from('00000100000100000000000001610000010001', 'hex');
  const run: FuzzTarget['run'] = (input) => {
    refusing(['ProtobufError'], () => {
      expect(decodeDnsPacket(Buffer.from(input)).length).toBeLessThanOrEqual(input.length);
    });
    const reader = makeGrpcRequest('localhost', message).createReader();
    const faults = [
      reader.begin(200, { 'content-type': 'application/grpc' }),
      ...Array.from(splitPieces(input), (piece) => reader.add(piece)),
      reader.end({ 'grpc-status': String((input[0] ?? 0) & 7) }),
    ];
    if (faults.every((fault) => fault === undefined)) expect(reader.take()).toBeInstanceOf(Uint8Array);
  };
  const seeds = [encodeDnsPacket(message), encodeDnsPacket(message).subarray(5)];
  await fuzz('gRPC calls', { seeds, words: OCTET_WORDS, run });
}, 300_000);

it('statuses of gRPC', async () => {
  const run: FuzzTarget['run'] = (input) => {
    const [code = '', message = ''] = Buffer.from(input).toString('latin1').split('\n');
    const status = readGrpcStatus({ 'grpc-status': code, 'grpc-message': message });
    if (status !== undefined) expect(Number.isFinite(status.code)).toBe(true);
  };
  const seeds = ['0\n', '14\nno%20leader', '16\n%E2%82%AC'].map(encodeText);
  await fuzz('gRPC status', { seeds, words: ['%', '%4', '%zz', '\n', '9'].map(encodeText), run });
}, 300_000);

it('messages of etcd', async () => {
  const readers = [decodeRange, decodeTransaction, decodeWatch, decodeLease, decodeAuthenticate];
  const run: FuzzTarget['run'] = (input) => {
    for (const read of readers) refusing(['ProtobufError'], () => void read(Buffer.from(input)));
  };
  const seeds = [
    '0a0a0880808080808080800118071212',
    '12120a016b100218032a017630ffffffffffffffff7f',
    '0a0208011a020801',
    '5a080800120408011203',
    '100518ffffffffffffffffff01',
    '0a0012057061737374',
  ].map((digits) => Buffer.from(digits, 'hex'));
  await fuzz('etcd messages', { seeds, words: OCTET_WORDS, run });
}, 300_000);

it('cached answers that another process hands over', async () => {
  const run: FuzzTarget['run'] = (input) => {
    refusing(['HandedRecordError'], () => {
      const reader = new HandoverReader();
      for (const piece of splitPieces(input)) Array.from(reader.read(piece));
    });
  };
  const seeds = [Buffer.concat([writeRecord({ kind: 'keeper', text: 'a' }), writeRecord({ kind: 'end' })])];
  await fuzz('handed answers', { seeds, words: OCTET_WORDS, run });
}, 300_000);

it('the first request of an HTTP connection', async () => {
  const run: FuzzTarget['run'] = (input) => {
    const stream = new PassThrough();
    let settled = 0;
    // Only what every stream has is used.
    readFirstRequest(stream as unknown as Socket, () => {
      settled += 1;
    });
    for (const piece of splitPieces(input)) stream.emit('data', piece);
    expect(settled).toBeLessThanOrEqual(1);
  };
  const seeds = [
    'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
    'HEAD / HTTP/1.0\r\n\r\nGET',
    'POST / HTTP/1.1\r\n\r\nbody',
  ];
  const words = ['\r\n', '\r\n\r\n', 'GET ', 'HEAD ', 'x: y'];
  await fuzz('HTTP request', { seeds: seeds.map(encodeText), words: words.map(encodeText), run });
}, 300_000);

it('captures of packets', async () => {
  const run: FuzzTarget['run'] = (input) => {
    const read = (pieces: Iterable<Uint8Array>): readonly number[] => {
      const reader = new CaptureReader();
      const found: number[] = [];
      refusing(['CaptureError'], () => {
        for (const piece of pieces)
          for (const { linkType, octets } of reader.read(piece)) {
            const datagram = readDatagram(linkType, octets);
            found.push(linkType, octets.length, datagram?.data.length ?? -1);
            if (datagram !== undefined) questionOfPacket(datagram.data);
          }
        reader.end();
      });
      return found;
    };
    expect(read(splitPieces(input))).toEqual(read([input]));
  };
  const query = Buffer.from('000101000001000000000000016100001c0001', 'hex');
  const frames = [...makeFrames(ipv4Packet(query)), ...makeFrames(ipv6Packet(query))];
  const seeds = frames.flatMap(([type, frame]) => [
    encodePcap(type, [frame]),
    encodePcap(type, [frame], 'big'),
    encodePcapng(type, [frame]),
  ]);
  const words = [...OCTET_WORDS, Buffer.from('0a0d0d0a', 'hex'), Buffer.from('a1b2c3d4', 'hex')];
  await fuzz('captures', { seeds, words, run });
}, 300_000);

it('messages of dnstap', async () => {
  const run: FuzzTarget['run'] = (input) => {
    const read = (pieces: Iterable<Uint8Array>): readonly unknown[] => {
      const reader = new FrameReader();
      const found: unknown[] = [];
      for (const piece of pieces)
        for (const reading of reader.read(Buffer.from(piece))) {
          found.push(reading);
          if (reading.kind === 'wrong') return found;
          if (reading.kind === 'data')
            refusing(['ProtobufError'], () => void readClientQuery(reading.octets));
        }
      return found;
    };
    expect(read(splitPieces(input))).toEqual(read([input]));
  };
  const message = encodeFrame({
    identity: 'me',
    version: '1',
    extra: undefined,
    message: { type: TAP_TYPE.CLIENT_QUERY, transport: 'udp', asked: 1, query: encodeText('abc') },
  });
  const frames = [controlFrame(CONTROL.READY), controlFrame(CONTROL.START), dataFrame(message)];
  const seeds = [Buffer.concat([...frames, controlFrame(CONTROL.STOP)]), dataFrame(message)];
  await fuzz('dnstap', { seeds, words: OCTET_WORDS, run });
}, 300_000);

it('lines of a query log, and of a list of questions', async () => {
  const run: FuzzTarget['run'] = (input) => {
    for (const line of Buffer.from(input).toString('utf8').split('\n')) {
      refusing(['ItemFault'], () => void readLogLine(line));
      refusing(['ItemFault'], () => void readListLine(line));
    }
  };
  const seeds = [
    '[INFO] 10.0.0.1:4711 - 77 "AAAA IN www.example. udp 45 true 1232" NOERROR qr,rd 80 0.0003s\n',
    'www.example AAAA\n_x._tcp.example. SRV\n',
  ].map(encodeText);
  const words = ['" ', ' - 1 "', 'TYPE65535', 'CLASS1', '\\000', ' udp 1 true 512" ', '..'].map(encodeText);
  await fuzz('lines with questions', { seeds, words, run });
}, 300_000);
