import { isServiceRecord, isSliceRecord } from '@portolan/kernel/records/check-record.ts';
import { encodeServiceRecord, encodeSliceRecord } from '@portolan/kernel/records/record-blocks.ts';
import { BlockBuffer } from '@portolan/kernel/table/block.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { trimEndpointSlice } from '../objects/trim/trim-endpoint-slice.ts';
import { trimService } from '../objects/trim/trim-service.ts';
import { readObject } from '../protobuf/envelope.ts';
import { encodeBody } from '../testing/protobuf-encoding.ts';
import { decodeService } from './decode-service.ts';
import { decodePlacedSlice, decodeSlice } from './decode-slice.ts';
import { DraftedService, DraftedSlice } from './drafted.ts';
import { draftService, draftSlice } from './fill-drafts.ts';

const name = fc.constantFrom('web', 'db-0', '_odd', 'Odd.Name', 'x'.repeat(64), '');
const metadata = fc.record({ name, namespace: fc.constantFrom('blue', 'green', 'Not.A.Label', '') });
const port = fc.record({
  name: fc.constantFrom('', 'http', 'HTTP', 'a port', 'y'.repeat(63)),
  protocol: fc.constantFrom(undefined, 'TCP', 'UDP', 'SCTP', 'ICMP'),
  port: fc.constantFrom(0, 53, 80, 65_535, 70_000),
});
const ports = fc.array(port, { maxLength: 3 });
const address = fc.constantFrom(
  '10.96.0.7',
  '10.96.0.8',
  'fd00::1',
  'FD00:0::2',
  '::ffff:1.2.3.4',
  'None',
  '',
  '300.1.2.3',
  '01.2.3.4',
);

const appProtocol = fc.constantFrom(undefined, '', 'https', 'HTTPS', 'kubernetes.io/wss', 'http', 'mysql');
const servicePort = fc.tuple(port, appProtocol).map(([rest, text]) => ({ ...rest, appProtocol: text }));
const annotations = fc.constantFrom(
  {},
  { other: 'h2' },
  { 'portolan-https/alpn': 'h2' },
  { other: '', 'portolan-https/alpn': 'h3, h2' },
  { 'portolan-https/alpn': 'none' },
  { 'portolan-https/alpn': '' },
);

const arbitraryService = fc.record({
  metadata: fc.tuple(metadata, annotations).map(([names, own]) => ({ ...names, annotations: own })),
  spec: fc.record({
    ports: fc.array(servicePort, { maxLength: 3 }),
    type: fc.constantFrom('ClusterIP', 'ExternalName', ''),
    clusterIP: address,
    clusterIPs: fc.array(address, { maxLength: 3 }),
    externalName: fc.constantFrom('', 'www.example.com', '192.0.2.7', 'not..a.name', 'fd00::7'),
    externalIPs: fc.array(address, { maxLength: 2 }),
    trafficDistribution: fc.constantFrom(
      undefined,
      'PreferClose',
      'PreferSameZone',
      'PreferSameNode',
      'Other',
    ),
    selector: fc.constantFrom({}, { app: 'web' }, { app: 'web', tier: '' }),
  }),
  status: fc.record({
    loadBalancer: fc.record({
      ingress: fc.array(fc.record({ ip: address, hostname: fc.constantFrom('', 'lb.example.com') }), {
        maxLength: 2,
      }),
    }),
  }),
});

const endpoint = fc.record({
  addresses: fc.array(address, { maxLength: 2 }),
  conditions: fc.constantFrom({}, { ready: true }, { ready: false }, { ready: false, terminating: true }),
  hostname: fc.constantFrom('', 'db-0', 'DB-1', 'not a label'),
  nodeName: fc.constantFrom(undefined, '', 'node-1', 'node-2'),
  zone: fc.constantFrom(undefined, '', 'zone-a', 'zone-b'),
  hints: fc.constantFrom(
    undefined,
    {},
    { forZones: [{ name: 'zone-a' }] },
    { forZones: ['a', 'b', ''].map((zone) => ({ name: zone })), forNodes: [{ name: 'node-1' }] },
    { forNodes: Array.from({ length: 12 }, (_, index) => ({ name: `node-${index}` })) },
  ),
});

const arbitrarySlice = fc.record({
  metadata: fc.record({
    name,
    namespace: fc.constantFrom('blue', ''),
    labels: fc.constantFrom(
      {},
      { 'kubernetes.io/service-name': 'web' },
      { other: 'web', 'kubernetes.io/service-name': 'Odd.Name' },
    ),
    annotations: fc.constantFrom(
      {},
      {
        'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z',
      },
    ),
  }),
  endpoints: fc.array(endpoint, { maxLength: 4 }),
  ports,
  addressType: fc.constantFrom('IPv4', 'IPv6', 'FQDN'),
});

const buffer = new BlockBuffer();
/** The record of a draft, in numbers. */
const encodeRecord = (encode: (buffer: BlockBuffer) => void): readonly number[] => {
  encode(buffer);
  return [...buffer.words.subarray(0, buffer.length >> 2)];
};

describe('a Service in Protocol Buffers', () => {
  it('makes the same record as in JSON', () => {
    fc.assert(
      fc.property(arbitraryService, (json) => {
        const decoded = decodeService(readObject(encodeBody('Service', json)));
        const trimmed = trimService(json);
        if (decoded.kind !== 'object' || trimmed.kind !== 'object') {
          expect(decoded).toEqual(trimmed);
          return;
        }
        const { object } = decoded;
        if (!(object instanceof DraftedService)) throw new TypeError('it was not decoded into a draft');
        const byOctets = encodeRecord((to) => encodeServiceRecord(to, object.draft, true));
        expect(isServiceRecord(buffer, 0, buffer.length)).toBe(true);
        const withoutAppProtocols = encodeRecord((to) => encodeServiceRecord(to, object.draft, false));
        const { isUsable } = object.draft;
        const expected = draftService(trimmed.object);
        expect(isUsable).toBe(expected.isUsable);
        expect(byOctets).toEqual(encodeRecord((to) => encodeServiceRecord(to, expected, true)));
        const plain = {
          ...trimmed.object,
          ports: trimmed.object.ports.map(({ appProtocol: _, ...rest }) => rest),
        };
        const expectedPlain = encodeRecord((to) => encodeServiceRecord(to, draftService(plain), true));
        expect(withoutAppProtocols).toEqual(expectedPlain);
        expect({ external: [], selects: false, ...trimmed.object }).toEqual({
          kind: object.kind,
          namespace: object.namespace,
          name: object.name,
          address: object.address,
          ports: object.ports,
          external: object.external,
          selects: object.selects,
          prefers: object.prefers,
        });
      }),
      { numRuns: 500 },
    );
  });
});

describe('an EndpointSlice in Protocol Buffers', () => {
  it('has the same ready endpoints as in JSON', () => {
    fc.assert(
      fc.property(arbitrarySlice, (json) => {
        const decoded = decodeSlice(readObject(encodeBody('EndpointSlice', json)));
        const trimmed = trimEndpointSlice(json);
        if (decoded.kind !== 'object' || trimmed.kind !== 'object') {
          expect(decoded).toEqual(trimmed);
          return;
        }
        const { object } = decoded;
        if (!(object instanceof DraftedSlice)) throw new TypeError('it was not decoded into a draft');
        expect(object.changeTime).toBe(trimmed.object.changeTime);
        const { states } = object.draft;
        const areReady = states.items.subarray(0, states.length).every((state) => state === 0);
        // The slice in JSON has no endpoints that are not ready.
        if (!areReady || states.length === 0) return;
        const byOctets = encodeRecord((to) => encodeSliceRecord(to, object.draft, true));
        expect(byOctets).toEqual(
          encodeRecord((to) => encodeSliceRecord(to, draftSlice(trimmed.object), false)),
        );
        // The decoder has one draft.
        const placed = decodePlacedSlice(readObject(encodeBody('EndpointSlice', json)));
        if (placed.kind !== 'object' || !(placed.object instanceof DraftedSlice))
          throw new TypeError('no draft');
        const { draft } = placed.object;
        const withPlaces = encodeRecord((to) => encodeSliceRecord(to, draft, true));
        expect(withPlaces).toEqual(
          encodeRecord((to) => encodeSliceRecord(to, draftSlice(trimmed.object), true)),
        );
        const words = Uint32Array.from(withPlaces);
        const memory = { words, octets: new Uint8Array(words.buffer) };
        expect(isSliceRecord(memory, 0, words.length * 4)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
