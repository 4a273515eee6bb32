import { ProtobufError } from '@portolan/kernel/base/protobuf-message.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { trimConfigMap } from '../objects/trim/trim-config-map.ts';
import { trimEndpointSlice } from '../objects/trim/trim-endpoint-slice.ts';
import { trimEndpoints } from '../objects/trim/trim-endpoints.ts';
import { trimLabelledNamespace } from '../objects/trim/trim-namespace.ts';
import { trimNode } from '../objects/trim/trim-node.ts';
import { trimWholePod } from '../objects/trim/trim-pod.ts';
import { trimService } from '../objects/trim/trim-service.ts';
import { encodeBody, encodeFrame } from '../testing/protobuf-encoding.ts';
import { readEvent, readObject } from './envelope.ts';
import { FrameSplitter, FrameTooLongError } from './frame-splitter.ts';
import { ProtobufListReader } from './protobuf-list-reader.ts';

const text = fc.oneof(fc.string({ minLength: 1, unit: 'grapheme', maxLength: 20 }), fc.constant('None'));
const address = fc.constantFrom('10.0.0.1', '192.0.2.77', 'fd00::1', 'nothing', '300.1.1.1');
const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined });
const texts = fc.dictionary(text, fc.string(), { maxKeys: 4, noNullPrototype: true });
const labels = fc.dictionary(
  fc.constantFrom(
    'kubernetes.io/service-name',
    'topology.kubernetes.io/zone',
    'topology.kubernetes.io/region',
    'app',
  ),
  fc.constantFrom('web', 'db', ''),
  { noNullPrototype: true },
);
const metadata = fc.record({
  name: text,
  namespace: maybe(text),
  uid: text,
  resourceVersion: fc.nat().map(String),
  generation: fc.nat(),
  labels: maybe(labels),
  annotations: maybe(texts),
  managedFields: fc.constantFrom([], [{ manager: 'm', operation: 'Update' }]),
});
const port = fc.record({
  name: maybe(text),
  protocol: maybe(fc.constantFrom('TCP', 'UDP', 'SCTP', 'other')),
  port: fc.constantFrom(0, 1, 127, 128, 65_535, 65_536, -1),
  appProtocol: maybe(text),
});
const ports = fc.array(port, { maxLength: 3 });
const subsetAddresses = maybe(fc.array(fc.record({ ip: address, hostname: maybe(text) }), { maxLength: 3 }));

const names = fc.array(fc.record({ name: text }), { maxLength: 2 });

const OBJECTS = {
  Service: fc.record({
    metadata,
    spec: fc.record({
      ports,
      selector: texts,
      clusterIP: maybe(fc.oneof(address, fc.constant('None'))),
      clusterIPs: maybe(fc.array(fc.oneof(address, fc.constant('None')), { maxLength: 2 })),
      type: maybe(fc.constantFrom('ClusterIP', 'ExternalName')),
      externalName: maybe(text),
      publishNotReadyAddresses: fc.boolean(),
      trafficDistribution: maybe(fc.constantFrom('PreferClose', 'PreferSameNode', '')),
    }),
  }),
  EndpointSlice: fc.record({
    metadata,
    addressType: fc.constantFrom('IPv4', 'IPv6', 'FQDN'),
    endpoints: maybe(
      fc.array(
        fc.record({
          addresses: fc.array(address, { maxLength: 3 }),
          conditions: maybe(fc.record({ ready: maybe(fc.boolean()), serving: maybe(fc.boolean()) })),
          hostname: maybe(text),
          nodeName: maybe(text),
          zone: maybe(text),
          hints: maybe(fc.record({ forZones: maybe(names), forNodes: maybe(names) })),
        }),
        { maxLength: 3 },
      ),
    ),
    ports: maybe(ports),
  }),
  Endpoints: fc.record({
    metadata,
    subsets: maybe(
      fc.array(fc.record({ addresses: subsetAddresses, notReadyAddresses: subsetAddresses, ports }), {
        maxLength: 2,
      }),
    ),
  }),
  Namespace: fc.record({ metadata }),
  Node: fc.record({
    metadata,
    spec: fc.record({ podCIDR: maybe(text), podCIDRs: maybe(fc.array(text, { maxLength: 2 })) }),
    status: fc.record({
      addresses: maybe(
        fc.array(fc.record({ type: fc.constantFrom('InternalIP', 'Hostname'), address }), { maxLength: 3 }),
      ),
    }),
  }),
  Pod: fc.record({
    metadata,
    spec: fc.record({
      dnsPolicy: fc.constantFrom('ClusterFirst', 'None', 'Default'),
      nodeSelector: maybe(fc.dictionary(fc.constantFrom('kubernetes.io/os', 'disk'), text)),
      hostNetwork: maybe(fc.boolean()),
      dnsConfig: maybe(fc.record({ searches: maybe(fc.array(text, { maxLength: 3 })) })),
      os: maybe(fc.record({ name: fc.constantFrom('linux', 'windows') })),
    }),
    status: fc.record({
      phase: maybe(fc.constantFrom('Running', 'Failed')),
      podIP: maybe(address),
      podIPs: maybe(fc.array(fc.record({ ip: address }), { maxLength: 2 })),
    }),
  }),
  ConfigMap: fc.record({ metadata, data: maybe(texts) }),
};
const TRIM = {
  Service: trimService,
  EndpointSlice: trimEndpointSlice,
  Endpoints: trimEndpoints,
  Namespace: trimLabelledNamespace,
  Node: trimNode,
  Pod: trimWholePod,
  ConfigMap: trimConfigMap,
};
const KINDS = ['Service', 'EndpointSlice', 'Endpoints', 'Namespace', 'Node', 'Pod', 'ConfigMap'] as const;

/** JSON as the API server writes it: without unset fields. */
const asJson = (object: unknown): unknown => JSON.parse(JSON.stringify(object));

function inPieces(octets: Buffer, sizes: readonly number[], push: (piece: Buffer) => void): void {
  let position = 0;
  for (let turn = 0; position < octets.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    push(octets.subarray(position, position + size));
    position += size;
  }
}

const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 });

describe.each(KINDS)('%s', (kind) => {
  const trim = TRIM[kind];

  it('is trimmed to the same object from both encodings', () => {
    fc.assert(
      fc.property(OBJECTS[kind], (object) => {
        expect(trim(readObject(encodeBody(kind, object)))).toEqual(trim(asJson(object)));
      }),
    );
  });

  it('is read from lists that arrive in any pieces', () => {
    const listed = fc.record({
      items: fc.array(OBJECTS[kind], { maxLength: 4 }),
      resourceVersion: fc.nat().map(String),
      next: fc.constantFrom('', 'token'),
      remainingItemCount: maybe(fc.nat()),
    });
    fc.assert(
      fc.property(listed, sizes, ({ items, resourceVersion, next, remainingItemCount }, cuts) => {
        const list = { metadata: { resourceVersion, continue: next, remainingItemCount }, items };
        const found: unknown[] = [];
        const reader = new ProtobufListReader((item) => found.push(trim(item)));
        inPieces(encodeBody(`${kind}List`, list), cuts, (piece) => reader.push(piece));
        expect(found).toEqual(items.map((item) => trim(asJson(item))));
        const more = {
          ...(next === '' ? {} : { continue: next }),
          ...(asJson({ remainingItemCount }) as object),
        };
        expect(reader.finish()).toEqual({ metadata: { resourceVersion, ...more } });
      }),
    );
  });

  it('is read from watches that arrive in any pieces', () => {
    const events = fc.array(fc.tuple(fc.constantFrom('ADDED', 'DELETED'), OBJECTS[kind]), { maxLength: 4 });
    fc.assert(
      fc.property(events, sizes, (sent, cuts) => {
        const stream = Buffer.concat(sent.map(([type, object]) => encodeFrame(type, kind, object)));
        const splitter = new FrameSplitter(100_000);
        const found: unknown[] = [];
        inPieces(stream, cuts, (piece) =>
          splitter.push(piece, (frame) => {
            const { type, object } = readEvent(frame);
            found.push([type, trim(object)]);
          }),
        );
        expect(found).toEqual(sent.map(([type, object]) => [type, trim(asJson(object))]));
        expect(splitter.held).toBe(0);
      }),
    );
  });
});

it('a key of a map may be __proto__', () => {
  const object = JSON.parse('{"metadata":{"name":"a","namespace":"b"},"data":{"__proto__":"x"}}');
  expect(trimConfigMap(readObject(encodeBody('ConfigMap', object)))).toMatchObject({
    object: { data: new Map([['__proto__', 'x']]) },
  });
});

describe('octets that are no message', () => {
  it('are refused with a ProtobufError, whatever they are', () => {
    const valid = encodeBody('Service', {
      metadata: { name: 'a', namespace: 'b' },
      spec: { ports: [{ port: 1 }] },
    });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(valid.length), (noise, cut) => {
        for (const octets of [
          Buffer.from(noise),
          Buffer.concat([Buffer.from('k8s\0'), noise]),
          Buffer.concat([valid.subarray(0, cut), noise]),
        ]) {
          try {
            readObject(octets);
          } catch (error) {
            expect(error).toBeInstanceOf(ProtobufError);
          }
          const reader = new ProtobufListReader(() => {});
          try {
            reader.push(octets);
            reader.finish();
          } catch (error) {
            expect(error).toBeInstanceOf(ProtobufError);
          }
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('that are cut off are no whole list', () => {
    const list = encodeBody('ServiceList', { metadata: { resourceVersion: '7' }, items: [{ metadata: {} }] });
    // The last four octets are two unused empty fields.
    for (let length = 0; length < list.length - 4; length += 1) {
      const reader = new ProtobufListReader(() => {});
      reader.push(list.subarray(0, length));
      expect(() => reader.finish()).toThrow(ProtobufError);
    }
  });

  it('of a frame longer than allowed end the watch', () => {
    const splitter = new FrameSplitter(10);
    expect(() => splitter.push(Buffer.from([0, 0, 0, 11]), () => {})).toThrow(FrameTooLongError);
  });
});
