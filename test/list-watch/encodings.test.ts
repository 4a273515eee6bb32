/**
 * Recordings of a real API server 1.31 in both encodings give the same objects, events and refusals.
 */
import { toFailure } from '@portolan/kubernetes/api/list-watch/failure.ts';
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
import { encodeBody } from '@portolan/kubernetes/testing/protobuf-encoding.ts';
import { describe, expect, test } from 'vitest';
import { readRecording } from '../support/recordings.ts';

interface Recorded {
  readonly response: {
    readonly status: number;
    readonly body?: unknown;
    readonly lines?: readonly unknown[];
    readonly bodyBase64?: string;
    readonly framesBase64?: readonly string[];
  };
}

interface BothEncodings {
  readonly name: string;
  readonly json: Recorded;
  readonly protobuf: Recorded;
}

interface OneEncoding extends Recorded {
  readonly name: string;
}

const BOTH = readRecording<BothEncodings>('test/api-server/transcripts/v1.31-encodings.jsonl');
const ONE = readRecording<OneEncoding>('test/api-server/transcripts/v1.31.jsonl');

function findNamed<Named extends { readonly name: string }>(all: readonly Named[], name: string): Named {
  const found = all.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no such transcript: ${name}`);
  return found;
}

const readBoth = (name: string) => findNamed(BOTH, name);
const readOne = (name: string) => findNamed(ONE, name).response;

const decodeBody = ({ response }: Recorded) => Buffer.from(response.bodyBase64 ?? '', 'base64');

describe('lists', () => {
  test.each([
    ['list-services', trimService],
    ['list-services-page1-continue', trimService],
    ['list-empty', trimService],
    ['list-endpointslices', trimEndpointSlice],
    ['list-endpoints', trimEndpoints],
    ['list-namespaces', trimNamespace],
    ['list-nodes', trimNode],
    ['list-pods', trimWholePod],
    ['list-configmaps', trimConfigMap],
  ] as const)('%s', (name, trim) => {
    const { json, protobuf } = readBoth(name);
    const fromJson: unknown[] = [];
    const jsonReader = new ListReader((item) => fromJson.push(trim(item)));
    jsonReader.push(Buffer.from(JSON.stringify(json.response.body)));
    const fromProtobuf: unknown[] = [];
    const protobufReader = new ProtobufListReader((item) => fromProtobuf.push(trim(item)));
    for (const octet of decodeBody(protobuf)) protobufReader.push(Uint8Array.of(octet));
    expect(fromProtobuf).toEqual(fromJson);
    expect(fromJson.length > 0).toBe(name !== 'list-empty');
    const { metadata } = protobufReader.finish() as { readonly metadata: object };
    expect(jsonReader.finish()).toMatchObject({ metadata });
  });

  test.each(['list-services', 'list-endpointslices'])('%s, with the type before them', (name) => {
    const { json, protobuf } = readBoth(name);
    const body = json.response.body as { readonly kind: string }; // A recorded list.
    const recorded = decodeBody(protobuf);
    // The magic, the number of the field, its length, the field.
    const end = 6 + (recorded[5] ?? 0);
    expect(encodeBody(body.kind, { ...body }).subarray(0, end)).toEqual(recorded.subarray(0, end));
  });

  test('with items before the metadata, as custom resources have it', () => {
    const items: unknown[] = [];
    const reader = new ListReader((item) => items.push(item));
    reader.push(Buffer.from(JSON.stringify(readOne('list-serviceimports').body)));
    expect(items.length).toBeGreaterThan(0);
    expect(reader.finish()).toMatchObject({ metadata: { resourceVersion: expect.stringMatching(/^\d+$/) } });
  });

  test('with slices whose endpoints and ports are null', () => {
    const body = JSON.stringify(readOne('list-endpointslices').body);
    expect(body).toContain('"endpoints":null');
    const trimmed: unknown[] = [];
    const reader = new ListReader((item) => trimmed.push(trimEndpointSlice(item)));
    reader.push(Buffer.from(body));
    expect(trimmed).toContainEqual(
      expect.objectContaining({ object: expect.objectContaining({ groups: [] }) }),
    );
    expect(trimmed).not.toContainEqual(expect.objectContaining({ kind: 'malformed' }));
  });
});

describe('watches', () => {
  test.each([
    ['watch-services', trimService],
    ['watchlist-services', trimService],
    ['watch-endpointslices', trimEndpointSlice],
    ['watch-pods', trimWholePod],
    ['watch-namespaces', trimNamespace],
    ['watch-error-410-too-old', trimService],
  ] as const)('%s', (name, trim) => {
    const { json, protobuf } = readBoth(name);
    const trimmed = (event: ReturnType<typeof readWatchEvent>) =>
      'object' in event
        ? { ...event, resourceVersion: undefined, object: trim(event.object) }
        : { ...event, resourceVersion: undefined };
    const fromJson = (json.response.lines ?? []).map((line) =>
      trimmed(readWatchEvent(JSON.stringify(line), 0)),
    );
    const fromProtobuf: unknown[] = [];
    const splitter = new FrameSplitter(1_000_000);
    for (const frame of protobuf.response.framesBase64 ?? [])
      for (const octet of Buffer.from(frame, 'base64'))
        splitter.push(Uint8Array.of(octet), (whole) => fromProtobuf.push(trimmed(readWatchFrame(whole, 0))));
    expect(fromProtobuf).toEqual(fromJson);
    expect(fromJson.length).toBeGreaterThan(0);
    expect(fromJson).not.toContainEqual(expect.objectContaining({ kind: 'broken' }));
  });
});

describe('refusals', () => {
  test.each(['error-404-service', 'error-410-list-exact-rv-compacted'])('%s', (name) => {
    const { json, protobuf } = readBoth(name);
    const { status } = json.response;
    const fromProtobuf = toFailure(status, readObject(decodeBody(protobuf)), undefined, 0);
    expect(fromProtobuf).toEqual(toFailure(status, json.response.body, undefined, 0));
  });

  test.each([
    ['error-429-apf-list', 'server', '429 Too many requests, please try again later.'],
    ['error-404-group-plain-text', 'missing-kind', '404 404 page not found'],
    ['error-504-timeout-1ms', 'server', expect.stringContaining('504')],
  ] as const)('%s is plain text', (name, kind, words) => {
    const { status, body } = readOne(name);
    expect(toFailure(status, body, undefined, 0)).toMatchObject({ kind, words });
  });
});

test('a ConfigMap with octets and an empty text', () => {
  const { json, protobuf } = readBoth('get-configmap-binary');
  expect(trimConfigMap(readObject(decodeBody(protobuf)))).toEqual(trimConfigMap(json.response.body));
});
