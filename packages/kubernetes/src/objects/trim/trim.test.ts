import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { trimConfigMap } from './trim-config-map.ts';
import { trimEndpointSlice } from './trim-endpoint-slice.ts';
import { trimEndpoints } from './trim-endpoints.ts';
import { trimNamespace } from './trim-namespace.ts';
import { trimNode } from './trim-node.ts';
import { trimPod, trimWholePod } from './trim-pod.ts';
import { trimPorts } from './trim-ports.ts';
import { trimService } from './trim-service.ts';

const metadata = { name: 'web', namespace: 'shop' };
const labels = { 'kubernetes.io/service-name': 'web' };

describe('trimService', () => {
  const trimAddress = (spec: unknown) => {
    const trimmed = trimService({ metadata, spec });
    return trimmed.kind === 'object' ? trimmed.object.address : trimmed;
  };

  test('all ClusterIPs of dual stack', () => {
    const spec = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', 'fd00::1'] };
    expect(trimAddress(spec)).toEqual({ kind: 'clusterIPs', addresses: ['10.0.0.1', 'fd00::1'] });
  });

  test('clusterIP alone, from before dual stack', () => {
    expect(trimAddress({ clusterIP: '10.0.0.1' })).toEqual({ kind: 'clusterIPs', addresses: ['10.0.0.1'] });
  });

  test('None is headless', () => {
    expect(trimAddress({ clusterIP: 'None', clusterIPs: ['None'] })).toEqual({ kind: 'headless' });
  });

  test('leaves out an address that is not assigned yet', () => {
    for (const spec of [{ clusterIP: '' }, {}, { clusterIPs: [] }, { clusterIP: 7 }]) {
      expect(trimAddress(spec)).toEqual({ kind: 'clusterIPs', addresses: [] });
    }
  });

  test('ExternalName', () => {
    const spec = { type: 'ExternalName', externalName: 'api.example.com' };
    expect(trimAddress(spec)).toEqual({ kind: 'externalName', name: 'api.example.com' });
    expect(trimAddress({ type: 'ExternalName' })).toMatchObject({ kind: 'malformed', key: 'shop/web' });
  });
});

describe('trimEndpointSlice', () => {
  const trimGroups = (slice: object) => {
    const trimmed = trimEndpointSlice({ metadata: { ...metadata, name: 'web-x', labels }, ...slice });
    return trimmed.kind === 'object' ? trimmed.object.groups : trimmed;
  };

  test('ready, or not said to be otherwise, with hostname and ports', () => {
    const endpoints = [
      { addresses: ['10.0.0.1'], conditions: { ready: true }, hostname: 'web-0' },
      { addresses: ['10.0.0.2'], conditions: {} },
      { addresses: ['10.0.0.3'] },
      { addresses: ['10.0.0.4'], conditions: { ready: null } },
      { addresses: ['10.0.0.5'], conditions: { ready: false, serving: true } },
      { addresses: ['fd00::6', '10.0.0.7', 'nonsense', 8] },
    ];
    const addresses = [
      { address: '10.0.0.1', hostname: 'web-0' },
      ...['10.0.0.2', '10.0.0.3', '10.0.0.4', 'fd00::6', '10.0.0.7'].map((address) => ({
        address,
        hostname: undefined,
      })),
    ];
    const ports = [{ name: 'http', port: 80 }];
    expect(trimGroups({ endpoints, ports })).toEqual([
      {
        addresses,
        ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
        others: [{ address: '10.0.0.5', isTerminating: false }],
      },
    ]);
  });

  test('without a ready endpoint it is held all the same, with those that are not ready', () => {
    expect(trimGroups({ endpoints: null, ports: null })).toEqual([]);
    const endpoints = [{ addresses: ['10.0.0.1'], conditions: { ready: false } }];
    const others = [{ address: '10.0.0.1', isTerminating: false }];
    expect(trimGroups({ endpoints })).toEqual([{ addresses: [], ports: [], others }]);
  });

  test('the ready endpoints of an FQDN slice are names, and addresses where it has some', () => {
    const endpoints = [
      { addresses: ['db.example.com', '10.0.0.1'], hostname: 'db-0' },
      { addresses: ['old.example.com'], conditions: { ready: false } },
    ];
    const ports = [{ name: 'sql', protocol: 'TCP', port: 5432 }];
    const targets = [{ target: 'db.example.com', hostname: 'db-0' }];
    const addresses = [{ address: '10.0.0.1', hostname: 'db-0' }];
    expect(trimGroups({ addressType: 'FQDN', endpoints, ports })).toEqual([{ addresses, ports, targets }]);
    expect(trimGroups({ addressType: 'IPv4', endpoints, ports })).toEqual([{ addresses, ports }]);
    expect(trimGroups({ addressType: 'FQDN' })).toEqual([]);
  });

  test('slices of no service are left out', () => {
    expect(trimEndpointSlice({ metadata })).toEqual({ kind: 'left-out', key: 'shop/web' });
  });
});

test('trimEndpoints keeps ready addresses, subset by subset', () => {
  const subsets = [
    {
      addresses: [{ ip: '10.0.0.1', hostname: 'db-0' }, { ip: '10.0.0.2' }],
      notReadyAddresses: [{ ip: '10.0.0.3' }],
      ports: [{ port: 5432, protocol: 'TCP' }],
    },
    { notReadyAddresses: [{ ip: '10.0.0.4' }], ports: [{ port: 1 }] },
    'nonsense',
  ];
  expect(trimEndpoints({ metadata, subsets })).toEqual({
    kind: 'object',
    object: {
      kind: 'Endpoints',
      namespace: 'shop',
      name: 'web',
      service: 'web',
      groups: [
        {
          addresses: [
            { address: '10.0.0.1', hostname: 'db-0' },
            { address: '10.0.0.2', hostname: undefined },
          ],
          ports: [{ name: '', protocol: 'TCP', port: 5432 }],
        },
      ],
    },
  });
});

test('trimNamespace', () => {
  const object = { kind: 'Namespace', name: 'shop' };
  expect(trimNamespace({ metadata: { name: 'shop' } })).toEqual({ kind: 'object', object });
});

describe('trimPod', () => {
  test('all addresses, or the one from before dual stack', () => {
    const podIPs = [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }, {}];
    expect(trimPod({ metadata, status: { podIPs } })).toMatchObject({
      object: { addresses: ['10.0.0.1', 'fd00::1'] },
    });
    expect(trimPod({ metadata, status: { podIP: '10.0.0.1' } })).toMatchObject({
      object: { addresses: ['10.0.0.1'] },
    });
  });

  test.each([
    {},
    { podIP: '' },
    { podIP: '10.0.0.1', phase: 'Succeeded' },
    { podIP: '10.0.0.1', phase: 'Failed' },
  ])('%o holds no address', (status) => {
    expect(trimPod({ metadata, status })).toEqual({ kind: 'left-out', key: 'shop/web' });
  });
});

describe('trimWholePod', () => {
  const status = { podIP: '10.0.0.1' };
  const searches = ['a.example'];

  test.each([
    [{}, { kind: 'cluster', more: [] }],
    [
      { dnsPolicy: 'ClusterFirst', dnsConfig: { searches } },
      { kind: 'cluster', more: searches },
    ],
    [{ dnsPolicy: 'ClusterFirstWithHostNet' }, { kind: 'cluster', more: [] }],
    [
      { dnsPolicy: 'None', dnsConfig: { searches } },
      { kind: 'own', domains: searches },
    ],
    [{ dnsPolicy: 'Default', dnsConfig: { searches } }, { kind: 'unknown' }],
    [{ dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }, { kind: 'unknown' }],
    [{ os: { name: 'windows' } }, { kind: 'unknown' }],
    [{ nodeSelector: { 'kubernetes.io/os': 'windows' } }, { kind: 'unknown' }],
    [undefined, { kind: 'unknown' }],
  ])('%j', (spec, search) => {
    expect(trimWholePod({ metadata, spec, status })).toMatchObject({
      object: { addresses: ['10.0.0.1'], search },
    });
  });
});

test('trimWholePod reads labels that are texts', () => {
  const labels = { color: 'red', size: 3 };
  const pod = { metadata: { ...metadata, labels }, status: { podIP: '10.0.0.1' } };
  expect(trimWholePod(pod)).toMatchObject({ object: { labels: new Map([['color', 'red']]) } });
});

test('trimPorts leaves out what makes no SRV record', () => {
  const ports = [
    { name: 'a', port: 53, protocol: 'UDP' },
    { name: null, port: 53 },
    { name: 'all', port: null },
    { port: 0 },
    { port: 65_536 },
    { port: 1.5 },
    { port: 80, protocol: 'ICMP' },
    null,
  ];
  expect(trimPorts(ports)).toEqual([
    { name: 'a', protocol: 'UDP', port: 53 },
    { name: '', protocol: 'TCP', port: 53 },
  ]);
});

describe.each([
  ['trimService', trimService],
  ['trimEndpointSlice', trimEndpointSlice],
  ['trimEndpoints', trimEndpoints],
  ['trimNamespace', trimNamespace],
  ['trimPod', trimPod],
  ['trimWholePod', trimWholePod],
  ['trimNode', trimNode],
  ['trimConfigMap', trimConfigMap],
])('%s', (_name, trim) => {
  test('takes any JSON at all', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (raw) => {
        expect(['object', 'left-out', 'malformed']).toContain(trim(raw).kind);
      }),
    );
  });

  test('takes any JSON in any known field', () => {
    const fields = ['spec', 'status', 'subsets', 'endpoints', 'ports', 'addressType'];
    const inner = [
      'clusterIP',
      'clusterIPs',
      'ports',
      'externalName',
      'podIPs',
      'podIP',
      'phase',
      'addresses',
    ];
    const value = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...inner), fc.jsonValue()));
    const object = fc.dictionary(fc.constantFrom(...fields), fc.oneof(value, fc.array(value)));
    fc.assert(
      fc.property(object, (raw) => {
        const trimmed = trim({ metadata: { ...metadata, labels }, ...raw });
        expect(trimmed.kind === 'malformed' ? trimmed.key : 'known').toBeDefined();
      }),
    );
  });

  test('without a name it is malformed', () => {
    for (const raw of [null, {}, { metadata: {} }, { metadata: { name: '', namespace: 'x' } }]) {
      expect(trim(raw)).toMatchObject({ kind: 'malformed', key: undefined });
    }
  });
});
