import { ALL_CHECKS } from '@portolan/server/reasons/checks/all-checks.ts';
import { runChecks } from '@portolan/server/reasons/finding.ts';
import { expect, it } from 'vitest';
import { readObjectEvidence } from './object-evidence.ts';
import { joinEvidence, RawEvidence } from './raw-evidence.ts';

const pod = (name: string, labels: object, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'shop', name, labels },
  spec,
});
const policy = (spec: object) => ({
  kind: 'NetworkPolicy',
  metadata: { namespace: 'shop', name: 'p' },
  spec,
});

function listFindings(...items: readonly object[]): readonly string[] {
  const objects = readObjectEvidence([{ kind: 'List', items }]);
  const { findings } = runChecks(ALL_CHECKS, { server: undefined, traffic: undefined, ...objects });
  return findings.map(({ kind, subject }) => `${kind} ${subject}`);
}

const EGRESS = { policyTypes: ['Egress'] };
const dns = (protocol: string, port: unknown = 53, further = {}) => ({
  ports: [{ protocol, port, ...further }],
});

it('reads which pods a policy selects, and what it lets pass', () => {
  const web = pod('web-0', { app: 'web' });
  const all = { ...EGRESS, podSelector: {} };
  expect(listFindings(web, policy(all))).toEqual(['network-policy shop: p']);
  expect(listFindings(web, policy({ ...all, egress: [dns('UDP'), dns('TCP')] }))).toEqual([]);
  expect(
    listFindings(web, policy({ ...all, egress: [dns('UDP', 1, { endPort: 100 }), dns('TCP')] })),
  ).toEqual([]);
  expect(listFindings(web, policy({ ...all, egress: [dns('UDP', 80)] }))).toHaveLength(1);
  expect(listFindings(web, policy({ ...all, egress: [{}] }))).toEqual([]);
  expect(listFindings(web, policy({ podSelector: {}, policyTypes: ['Ingress'] }))).toEqual([]);
  const other = { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] };
  expect(listFindings(web, policy({ ...EGRESS, podSelector: other }))).toEqual([]);
  expect(listFindings(web, policy({ ...EGRESS, podSelector: { matchLabels: { app: 'web' } } }))).toHaveLength(
    1,
  );
});

it('finds pods on the network of their node with the policy of other pods', () => {
  expect(listFindings(pod('a', {}, { hostNetwork: true }))).toEqual(['host-network-policy shop/a']);
  expect(listFindings(pod('a', {}, { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }))).toEqual([]);
});

it('reads Endpoints and EndpointSlices alike, and typed lists', () => {
  const service = {
    kind: 'Service',
    metadata: { namespace: 'shop', name: 'db' },
    spec: { clusterIP: 'None', selector: { a: 'b' } },
  };
  const subsets = [
    { addresses: [{ ip: '10.0.0.1' }], notReadyAddresses: [{ ip: '10.0.0.2', targetRef: { name: 'db-1' } }] },
  ];
  const endpoints = { metadata: { namespace: 'shop', name: 'db' }, subsets };
  const raw = new RawEvidence([service, { kind: 'EndpointsList', items: [endpoints] }]);
  expect(raw.findService('shop', 'db')).toMatchObject({
    address: { kind: 'headless' },
    selector: new Map([['a', 'b']]),
    selectedPods: undefined,
    endpoints: {
      ready: [{ address: '10.0.0.1' }],
      notReady: [{ address: '10.0.0.2', pod: 'db-1' }],
    },
  });
  expect(new RawEvidence([service]).findService('shop', 'db')?.endpoints.notReady).toBeUndefined();
});

it('adds only what the first evidence did not look at', () => {
  const service = (ip: string) => ({
    kind: 'Service',
    metadata: { namespace: 'shop', name: 'db' },
    spec: { clusterIP: ip },
  });
  const one = new RawEvidence([service('10.0.0.1')]);
  const two = new RawEvidence([service('10.0.0.2'), pod('x', {})]);
  expect(joinEvidence(one, two).findService('shop', 'db')?.address).toEqual({
    kind: 'clusterIPs',
    addresses: ['10.0.0.1'],
  });
  expect(joinEvidence(one, two).findService('shop', 'other')).toBeUndefined();
});

it('skips objects of unexpected forms', () => {
  for (const strange of [
    null,
    1,
    'x',
    [],
    {},
    { kind: 'Pod' },
    { kind: 'Service', metadata: { name: 'a' } },
    { items: 'x' },
  ])
    expect(() => readObjectEvidence([strange])).not.toThrow();
});
