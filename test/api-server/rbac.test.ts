import { afterEach, expect, test } from 'vitest';
import { ApiServerDouble } from './api-server.ts';
import { findUnused, formatUser, readRules } from './rbac.ts';

const ACCOUNT = { namespace: 'kube-system', name: 'kube-dns' };
const USER = formatUser(ACCOUNT);
const MANIFESTS = [
  `
kind: ClusterRole
metadata: { name: lister }
rules:
  - { apiGroups: [""], resources: [services], verbs: [list, watch] }
  - { apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: ["*"] }
---
kind: ClusterRoleBinding
metadata: { name: lister }
roleRef: { kind: ClusterRole, name: lister }
subjects: [{ kind: ServiceAccount, name: kube-dns, namespace: kube-system }]
---
`,
  `
kind: Role
metadata: { name: configuration, namespace: kube-system }
rules:
  - { apiGroups: [""], resources: [configmaps], resourceNames: [kube-dns], verbs: [get, watch] }
  - { apiGroups: [""], resources: [pods/status], verbs: [patch] }
---
kind: RoleBinding
metadata: { name: configuration, namespace: kube-system }
roleRef: { kind: Role, name: configuration }
subjects: [{ kind: ServiceAccount, name: kube-dns, namespace: kube-system }]
---
kind: ClusterRole
metadata: { name: administrator }
rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }]
---
kind: ClusterRoleBinding
metadata: { name: administrator }
roleRef: { kind: ClusterRole, name: administrator }
subjects: [{ kind: ServiceAccount, name: kube-dns, namespace: other }]
`,
];
const rules = readRules(MANIFESTS, ACCOUNT);

let double: ApiServerDouble;
afterEach(() => double.stop());

async function start(): Promise<void> {
  double = await ApiServerDouble.start({
    access: { tokens: { secret: USER }, rules: { [USER]: rules } },
    objects: ['kube-system', 'default'].flatMap((namespace) => [
      { kind: 'ConfigMap', metadata: { name: 'kube-dns', namespace }, data: {} },
      { kind: 'Pod', metadata: { name: 'web', namespace }, status: { phase: 'Running' } },
    ]),
  });
}

async function send(path: string, method = 'GET', body?: unknown) {
  const answer = await fetch(double.url + path, {
    method,
    headers: { authorization: 'Bearer secret' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const whole = path.includes('watch=') && answer.ok ? answer.body?.cancel() : answer.json();
  return { status: answer.status, body: await whole };
}

const SYSTEM = '/api/v1/namespaces/kube-system';

test.each([
  ['/api/v1/services', 200],
  [`${SYSTEM}/services`, 200],
  ['/api/v1/namespaces/default/services/web', 403],
  ['/api/v1/endpoints', 403],
  ['/apis/discovery.k8s.io/v1/endpointslices?watch=1', 200],
  [`${SYSTEM}/configmaps/kube-dns`, 200],
  [`${SYSTEM}/configmaps/other`, 403],
  [`${SYSTEM}/configmaps`, 403],
  [`${SYSTEM}/configmaps?watch=1`, 403],
  [`${SYSTEM}/configmaps?watch=1&fieldSelector=metadata.name%3Dother`, 403],
  [`${SYSTEM}/configmaps?watch=1&fieldSelector=metadata.name%3Dkube-dns`, 200],
  [`${SYSTEM}/configmaps?fieldSelector=metadata.name%3Dkube-dns`, 403],
  ['/api/v1/namespaces/default/configmaps/kube-dns', 403],
  ['/api/v1/configmaps?watch=1&fieldSelector=metadata.name%3Dkube-dns', 403],
])('%s is answered with %i', async (path, status) => {
  await start();
  expect((await send(path)).status).toBe(status);
});

test('a refusal names the object, as of an API server', async () => {
  await start();
  expect((await send(`${SYSTEM}/configmaps/other`)).body).toMatchObject({
    message: `configmaps "other" is forbidden: User "${USER}" cannot get resource "configmaps" in API group "" in the namespace "kube-system"`,
    details: { name: 'other', kind: 'configmaps' },
  });
  expect((await send(`${SYSTEM}/pods/web/status`, 'PUT', {})).body).toMatchObject({
    message: expect.stringContaining('cannot update resource "pods/status"'),
  });
});

test('one ConfigMap is listed and watched by a field selector', async () => {
  double = await ApiServerDouble.start();
  for (const name of ['kube-dns', 'other'])
    double.put({ kind: 'ConfigMap', metadata: { name, namespace: 'kube-system' }, data: { name } });
  const path = `${SYSTEM}/configmaps?fieldSelector=metadata.name%3Dkube-dns`;
  const { body } = await send(path);
  expect(body).toMatchObject({ kind: 'ConfigMapList', items: [{ data: { name: 'kube-dns' } }] });
  const watch = await fetch(`${double.url}${path}&watch=1&resourceVersion=${double.store.version}`);
  for (const name of ['other', 'kube-dns'])
    double.put({ kind: 'ConfigMap', metadata: { name, namespace: 'kube-system' }, data: { now: name } });
  const first = await watch.body?.getReader().read();
  const line: unknown = JSON.parse(Buffer.from(first?.value ?? []).toString());
  expect(line).toMatchObject({ type: 'MODIFIED', object: { kind: 'ConfigMap', data: { now: 'kube-dns' } } });
});

test('the status of a pod is patched, and nothing else of it', async () => {
  await start();
  const patch = { metadata: { labels: { a: 'b' } }, status: { message: 'fine' } };
  const answer = await send(`${SYSTEM}/pods/web/status`, 'PATCH', patch);
  expect(answer).toMatchObject({
    status: 200,
    body: { kind: 'Pod', status: { phase: 'Running', message: 'fine' } },
  });
  expect(answer.body).not.toHaveProperty('metadata.labels');
  expect((await send(`${SYSTEM}/pods/web`, 'PATCH', patch)).status).toBe(403);
});

test('what is allowed and never asked for is found', async () => {
  await start();
  await send('/api/v1/services');
  await send(`${SYSTEM}/configmaps/kube-dns`);
  await send('/apis/discovery.k8s.io/v1/endpointslices');
  expect(findUnused(rules, double.requests)).toEqual([
    'watch services',
    'watch configmaps kube-dns',
    'patch pods/status',
  ]);
});

test('a binding to a role that there is not is a mistake', async () => {
  await start();
  const [, second = ''] = MANIFESTS;
  expect(() => readRules([second.replace('kind: Role\n', 'kind: ClusterRole\n')], ACCOUNT)).toThrow(
    'no such role',
  );
});
