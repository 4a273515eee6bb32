/**
 * Fuzzes the output of an API server: objects, lists and events in both encodings, and the HTTP around them.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { HttpConnection } from '@portolan/kubernetes/api/connection/http-connection.ts';
import { makeApiAccess } from '@portolan/kubernetes/api/list-watch/api-access.ts';
import { ConnectionAttempt } from '@portolan/kubernetes/api/list-watch/attempt.ts';
import { LineSplitter } from '@portolan/kubernetes/api/list-watch/line-splitter.ts';
import { PagedList } from '@portolan/kubernetes/api/list-watch/list-pages.ts';
import { ListReader } from '@portolan/kubernetes/api/list-watch/list-reader.ts';
import { readWatchEvent, readWatchFrame } from '@portolan/kubernetes/api/list-watch/watch-event.ts';
import { trimConfigMap } from '@portolan/kubernetes/objects/trim/trim-config-map.ts';
import { trimEndpointSlice } from '@portolan/kubernetes/objects/trim/trim-endpoint-slice.ts';
import { trimEndpoints } from '@portolan/kubernetes/objects/trim/trim-endpoints.ts';
import { trimNamespace } from '@portolan/kubernetes/objects/trim/trim-namespace.ts';
import { trimNode } from '@portolan/kubernetes/objects/trim/trim-node.ts';
import { trimWholePod } from '@portolan/kubernetes/objects/trim/trim-pod.ts';
import { trimService } from '@portolan/kubernetes/objects/trim/trim-service.ts';
import { readObject } from '@portolan/kubernetes/protobuf/envelope.ts';
import { FrameSplitter } from '@portolan/kubernetes/protobuf/frame-splitter.ts';
import { ProtobufListReader } from '@portolan/kubernetes/protobuf/protobuf-list-reader.ts';
import { decodeService } from '@portolan/kubernetes/records/decode-service.ts';
import { decodeSlice, decodeSliceOfPods } from '@portolan/kubernetes/records/decode-slice.ts';
import { expect, it, onTestFinished } from 'vitest';
import { readRecording } from '../../support/recordings.ts';
import { encodeText, type FuzzTarget, fuzz } from './fuzz.ts';

interface Recorded {
  readonly response: {
    readonly body?: unknown;
    readonly lines?: readonly unknown[];
    readonly bodyBase64?: string;
    readonly framesBase64?: readonly string[];
  };
}

interface BothEncodings {
  readonly json: Recorded;
  readonly protobuf: Recorded;
}

const RECORDED = readRecording<BothEncodings>('test/api-server/transcripts/v1.31-encodings.jsonl');
const BODIES = RECORDED.flatMap(({ protobuf: { response } }) =>
  response.bodyBase64 === undefined ? [] : [Buffer.from(response.bodyBase64, 'base64')],
);
const STREAMS = RECORDED.flatMap(({ protobuf: { response } }) =>
  response.framesBase64 === undefined
    ? []
    : [Buffer.concat(response.framesBase64.map((frame) => framed(Buffer.from(frame, 'base64'))))],
);
const TEXTS = RECORDED.flatMap(({ json: { response } }) =>
  response.body === undefined ? [] : [encodeText(JSON.stringify(response.body))],
);
const LINES = RECORDED.flatMap(({ json: { response } }) =>
  response.lines === undefined
    ? []
    : [encodeText(response.lines.map((line) => JSON.stringify(line)).join('\n'))],
);

function framed(octets: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(octets.length);
  return Buffer.concat([length, octets]);
}

const OCTET_WORDS = [
  [0x6b, 0x38, 0x73, 0],
  [0x0a],
  [0x12],
  [0x1a],
  [0x0b],
  [0xff, 0xff, 0xff, 0xff, 0x0f],
  [0x80, 0x80, 0x80],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
  [0x7f],
  [0, 0, 0, 0],
  [0xff, 0xff, 0xff, 0xff],
].map((octets) => Uint8Array.from(octets));
const JSON_WORDS = [
  '"items":[',
  '"metadata":{',
  '"endpoints":null',
  'null',
  '[]',
  '{}',
  '[',
  '{',
  ']',
  '}',
  ',',
  ':',
  '"',
  '\\',
  ...[
    '"spec":[]',
    '"ports":{"port":"x"}',
    '1e999',
    '-1',
    '"\\ud800"',
    '"__proto__":{"a":1}',
    '\n',
    '\u0000',
    'true',
  ],
  ...[
    '"resourceVersion":7',
    '"continue":"x"',
    '"type":"ADDED"',
    '"type":"BOOKMARK"',
    '"code":410',
    '"kind":"Status"',
  ],
].map(encodeText);

const TRIMS = [
  trimService,
  trimEndpointSlice,
  trimEndpoints,
  trimNamespace,
  trimWholePod,
  trimNode,
  trimConfigMap,
];

/** What reads objects in Protocol Buffers in one pass, too. */
const DECODERS = [...TRIMS, decodeService, decodeSlice, decodeSliceOfPods];

/** What is made of any object must be an object of the kind, or say what is wrong with it. */
function trimAll(object: unknown): void {
  for (const trim of TRIMS) expect(['object', 'malformed', 'left-out']).toContain(trim(object).kind);
}

/** The same of an object in Protocol Buffers, which may turn out to be malformed when its fields are read. */
function decodeAll(object: unknown): void {
  for (const decode of DECODERS)
    refusing(['ProtobufError'], () =>
      expect(['object', 'malformed', 'left-out']).toContain(decode(object).kind),
    );
}

/** Runs a parser that may refuse, and must say so by its own error. */
function refusing(names: readonly string[], run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Error) || !names.includes(error.name)) throw error;
  }
}

const pieces = (input: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: Math.ceil(input.length / 97) }, (_, index) =>
    input.subarray(index * 97, index * 97 + 97),
  );

it('objects and lists in Protocol Buffers', async () => {
  const run: FuzzTarget['run'] = (input) => {
    refusing(['ProtobufError'], () => decodeAll(readObject(Buffer.from(input))));
    refusing(['ProtobufError'], () => {
      const reader = new ProtobufListReader(decodeAll);
      for (const piece of pieces(input)) reader.push(piece);
      reader.finish();
    });
  };
  await fuzz('protobuf', { seeds: BODIES, words: OCTET_WORDS, run });
}, 300_000);

it('events in Protocol Buffers', async () => {
  const run: FuzzTarget['run'] = (input) =>
    refusing(['FrameTooLongError'], () => {
      const splitter = new FrameSplitter(2 ** 20);
      for (const piece of pieces(input))
        splitter.push(piece, (frame) => {
          const event = readWatchFrame(frame, 0);
          if (event.kind === 'upsert' || event.kind === 'delete') decodeAll(event.object);
        });
      expect(splitter.held).toBeLessThanOrEqual(2 ** 20 + 4);
    });
  await fuzz('protobuf events', { seeds: STREAMS, words: OCTET_WORDS, run });
}, 300_000);

it('lists in JSON', async () => {
  const run: FuzzTarget['run'] = (input) =>
    refusing(['MalformedListError'], () => {
      const reader = new ListReader(trimAll);
      for (const piece of pieces(input)) reader.push(piece);
      reader.finish();
    });
  await fuzz('JSON', { seeds: TEXTS, words: JSON_WORDS, run });
}, 300_000);

it('events in JSON', async () => {
  const run: FuzzTarget['run'] = (input) =>
    refusing(['LineTooLongError'], () => {
      const splitter = new LineSplitter(2 ** 20);
      for (const piece of pieces(input))
        splitter.push(piece, (line) => {
          const event = readWatchEvent(line, 0);
          if (event.kind === 'upsert' || event.kind === 'delete') trimAll(event.object);
        });
    });
  await fuzz('JSON events', { seeds: LINES, words: JSON_WORDS, run });
}, 300_000);

const HTTP_WORDS = [
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 410 Gone\r\n',
  'HTTP/1.1 401 No\r\n',
  'HTTP/1.0 500 \r\n',
  '\r\n',
  '\r\n\r\n',
  'content-length: 3\r\n',
  'content-length: 99999999\r\n',
  'transfer-encoding: chunked\r\n',
  '0\r\n\r\n',
  'ffffffff\r\n',
  'content-type: application/vnd.kubernetes.protobuf\r\n',
  'content-encoding: gzip\r\n',
  'retry-after: x\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 101 Switching\r\n\r\n',
  'connection: close\r\n',
  'location: /x\r\n',
  '\u0000',
].map(encodeText);

const HTTP_SEEDS = [...BODIES, ...TEXTS].flatMap((body, index) => {
  const type = index < BODIES.length ? 'application/vnd.kubernetes.protobuf' : 'application/json';
  const head = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n`;
  const size = body.length.toString(16);
  return [
    Buffer.concat([encodeText(`${head}content-length: ${body.length}\r\n\r\n`), body]),
    Buffer.concat([
      encodeText(`${head}transfer-encoding: chunked\r\n\r\n${size}\r\n`),
      body,
      encodeText('\r\n0\r\n\r\n'),
    ]),
  ];
});

it('HTTP: a list is read, or there is a reason that the watch knows', async () => {
  let answer: Uint8Array = Uint8Array.of();
  const open = new Set<Socket>();
  // Sends what it likes at once, and closes.
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    socket.once('data', () => socket.end(answer)).resume();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // It listens on a port.
  const url = new URL(`http://127.0.0.1:${port}`);
  const connection = new HttpConnection({ server: url, source: 'test', verify: true, user: {} }, systemClock);
  onTestFinished(() => {
    connection.close();
    for (const socket of open) socket.destroy();
    server.close();
  });
  const api = makeApiAccess({ connection, log: silentLog });
  const run: FuzzTarget['run'] = async (input) => {
    answer = input;
    const attempt = new ConnectionAttempt(new AbortController().signal, systemClock);
    attempt.expectEnd(20_000, { kind: 'unexpected', words: 'no end', error: undefined });
    let pages = 0;
    try {
      const list = new PagedList('/api/v1/services', { kind: 'latest' }, 0);
      await list.read(api, attempt, (item) => {
        trimAll(item);
        // The same answer may name another next page for ever.
        pages += 1;
        if (pages > 10_000) attempt.fail({ kind: 'stopped', words: 'enough' });
      });
    } catch (error) {
      const failure = attempt.explain(error);
      if (failure.kind === 'unexpected') throw error;
    } finally {
      attempt.close();
    }
  };
  await fuzz('HTTP', { seeds: HTTP_SEEDS, words: [...HTTP_WORDS, ...JSON_WORDS], run });
}, 600_000);
