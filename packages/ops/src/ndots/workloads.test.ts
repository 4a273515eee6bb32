import { expect, it } from 'vitest';
import { makePatch } from './patch.ts';
import { findWorkloads } from './workloads.ts';

const owned = (kind: string, name: string) => ({ ownerReferences: [{ kind, name, controller: true }] });

const pod = (name: string, podIP: string, metadata: object = {}, spec: object = {}, phase = 'Running') => ({
  kind: 'Pod',
  metadata: { name, namespace: 'shop', ...metadata },
  spec,
  status: { podIP, podIPs: [{ ip: podIP }], phase },
});

const describe = (...objects: readonly object[]) =>
  [...findWorkloads(objects, 'cluster.local.')].map(
    ([address, { kind, name, ndots }]) => `${address} ${kind} ${name} ${ndots}`,
  );

it('names workloads by the owners of pods', () => {
  expect(
    describe(
      pod('web-5d4-x', '10.1.0.1', {
        ...owned('ReplicaSet', 'web-5d4'),
        labels: { 'pod-template-hash': '5d4' },
      }),
      pod('old-7-x', '10.1.0.2', owned('ReplicaSet', 'old-7')),
      pod('db-0', '10.1.0.3', owned('StatefulSet', 'db')),
      pod('report-2711-x', '10.1.0.4', owned('Job', 'report-2711')),
      pod('kube-proxy-n1', '10.1.0.5', owned('Node', 'n1')),
      pod('ended-x', '10.1.0.1', owned('Job', 'ended'), {}, 'Succeeded'),
      { kind: 'Job', metadata: { name: 'report-2711', namespace: 'shop', ...owned('CronJob', 'report') } },
    ),
  ).toEqual([
    '10.1.0.1 Deployment web 5',
    '10.1.0.2 ReplicaSet old-7 5',
    '10.1.0.3 StatefulSet db 5',
    '10.1.0.4 CronJob report 5',
    '10.1.0.5 Pod kube-proxy-n1 5',
  ]);
});

it('reads the search list and ndots, and names no address of several pods', () => {
  const options = [{ name: 'ndots', value: '2' }, { name: 'single-request-reopen' }];
  const found = findWorkloads(
    [
      pod('a', '10.1.0.1', {}, { dnsConfig: { options, searches: ['corp.example'] } }),
      pod('b', '10.1.0.2', {}, { dnsPolicy: 'Default' }),
      pod('c', '10.1.0.3', {}, { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }),
      pod('d', '10.1.0.3', {}, { hostNetwork: true }),
      'no object',
    ],
    'cluster.local.',
  );
  expect(found.get('10.1.0.1')).toMatchObject({
    ndots: 2,
    search: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'corp.example'],
    options,
  });
  expect(found.get('10.1.0.2')?.search).toBeUndefined();
  expect(found.has('10.1.0.3')).toBe(false);
});

const web = { kind: 'Deployment', namespace: 'shop', name: 'web', search: [], ndots: 5, options: [] };

it('makes patches that keep the other options', () => {
  const options = [
    { name: 'ndots', value: '5' },
    { name: 'timeout', value: "1'" },
  ];
  const { dnsConfig, kubectl, kustomize } = makePatch({ ...web, options }, 2);
  expect(dnsConfig.options).toEqual([
    { name: 'timeout', value: "1'" },
    { name: 'ndots', value: '2' },
  ]);
  const change = `{"spec":{"template":{"spec":{"dnsConfig":{"options":[{"name":"timeout","value":"1'\\''"},{"name":"ndots","value":"2"}]}}}}}`;
  expect(kubectl).toBe(`kubectl -n shop patch deployment web -p '${change}'`);
  expect(kustomize?.target).toEqual({
    group: 'apps',
    version: 'v1',
    kind: 'Deployment',
    namespace: 'shop',
    name: 'web',
  });
  expect(JSON.parse(kustomize?.patch ?? '')).toMatchObject({
    apiVersion: 'apps/v1',
    spec: { template: { spec: { dnsConfig } } },
  });
});

it('makes none where the pods of a kind cannot be changed', () => {
  expect(makePatch({ ...web, kind: 'Job' }, 2)).toMatchObject({ kubectl: undefined, kustomize: undefined });
  expect(makePatch({ ...web, kind: 'CronJob' }, 2).kubectl).toContain(
    '{"spec":{"jobTemplate":{"spec":{"template":',
  );
});
