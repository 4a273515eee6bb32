import { expect, it } from 'vitest';
import { describeRule } from './rbac-rule.ts';

it.each([
  [{ path: '/api/v1/services' }, '{apiGroups: [""], resources: [services], verbs: [list, watch]}'],
  [
    { path: '/api/v1/nodes?labelSelector=a%3Db' },
    '{apiGroups: [""], resources: [nodes], verbs: [list, watch]}',
  ],
  [
    { path: '/apis/discovery.k8s.io/v1/endpointslices' },
    '{apiGroups: ["discovery.k8s.io"], resources: [endpointslices], verbs: [list, watch]}',
  ],
  [
    { path: '/api/v1/namespaces/kube-system/configmaps', only: 'kube-dns' },
    '{apiGroups: [""], resources: [configmaps], resourceNames: [kube-dns], verbs: [get, watch]}',
  ],
])('%j needs %s', (resource, rule) => {
  expect(describeRule(resource)).toBe(rule);
});
