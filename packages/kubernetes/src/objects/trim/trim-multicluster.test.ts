import { describe, expect, it } from 'vitest';
import { trimImportedSlice, trimImportedSliceOfPods, trimServiceImport } from './trim-multicluster.ts';

const METADATA = { namespace: 'shop', name: 'cart' };

describe('a ServiceImport', () => {
  it('has the addresses of the cluster set', () => {
    const spec = {
      type: 'ClusterSetIP',
      ips: ['10.42.42.42', 'fd00:42::42', 'not an address'],
      ports: [{ name: 'http', port: 80, protocol: 'TCP', appProtocol: 'dns' }, { port: 53 }],
    };
    expect(trimServiceImport({ metadata: METADATA, spec, status: { clusters: [] } })).toEqual({
      kind: 'object',
      object: {
        kind: 'Service',
        ...METADATA,
        address: { kind: 'clusterIPs', addresses: ['10.42.42.42', 'fd00:42::42'] },
        ports: [
          { name: 'http', protocol: 'TCP', port: 80 },
          { name: '', protocol: 'TCP', port: 53 },
        ],
      },
    });
  });

  it('is headless by its type, and may have no ports', () => {
    expect(trimServiceImport({ metadata: METADATA, spec: { type: 'Headless', ips: ['10.0.0.1'] } })).toEqual({
      kind: 'object',
      object: { kind: 'Service', ...METADATA, address: { kind: 'headless' }, ports: [] },
    });
  });

  it.each([undefined, null, 7, 'text', [], {}, { metadata: METADATA }, { metadata: METADATA, spec: [] }])(
    'that cannot be read is malformed: %j',
    (raw) => {
      expect(trimServiceImport(raw).kind).toBe('malformed');
    },
  );
});

describe('a slice of an import', () => {
  const labels = {
    'multicluster.kubernetes.io/service-name': 'cart',
    'multicluster.kubernetes.io/source-cluster': 'west',
    'kubernetes.io/service-name': 'derived-cart',
  };
  const slice = {
    metadata: { namespace: 'shop', name: 'cart-1', labels },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.244.0.1'], targetRef: { name: 'pod-1' } }],
    ports: [],
  };

  it('belongs to the import, and names its cluster', () => {
    const trimmed = trimImportedSlice(slice);
    expect(trimmed).toMatchObject({ kind: 'object', object: { service: 'cart', cluster: 'west' } });
  });

  it('has the names of pods where they are asked for', () => {
    const one = trimImportedSlice(slice);
    const other = trimImportedSliceOfPods(slice);
    expect(one).toMatchObject({ object: { groups: [{ addresses: [{ hostname: undefined }] }] } });
    expect(other).toMatchObject({ object: { groups: [{ addresses: [{ hostname: 'pod-1' }] }] } });
  });

  it('without its label is left out, and without a cluster has none', () => {
    const local = { ...slice, metadata: { ...slice.metadata, labels: {} } };
    expect(trimImportedSlice(local).kind).toBe('left-out');
    const { 'multicluster.kubernetes.io/source-cluster': _cluster, ...others } = labels;
    const trimmed = trimImportedSlice({ ...slice, metadata: { ...slice.metadata, labels: others } });
    expect(trimmed.kind === 'object' && trimmed.object.cluster).toBeUndefined();
  });
});
