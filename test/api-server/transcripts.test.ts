/**
 * Compares the double with a real API server: with the same objects, it gives the recorded answers.
 */
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { afterEach, expect, test } from 'vitest';
import { readRecording } from '../support/recordings.ts';
import { ApiServerDouble } from './api-server.ts';
import { findByKind } from './catalog.ts';
import type { KubernetesObject } from './object-store.ts';

interface WatchLine {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: KubernetesObject;
}

interface Transcript {
  readonly name: string;
  readonly request: { readonly path: string };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: Readonly<Record<string, unknown>> & {
      readonly items?: readonly KubernetesObject[];
      readonly metadata?: Readonly<Record<string, unknown>>;
    };
    readonly lines?: readonly WatchLine[];
    readonly durationMs?: number;
  };
}

const recorded = readRecording<Transcript>('test/api-server/transcripts/v1.20.jsonl');
const transcripts = new Map(recorded.map((each) => [each.name, each]));

function transcript(name: string): Transcript {
  const found = transcripts.get(name);
  if (found === undefined) throw new Error(`no such transcript: ${name}`);
  return found;
}

function recordedObjects(): KubernetesObject[] {
  const lists = [
    ['list-services-rv0', 'Service'],
    ['list-endpoints', 'Endpoints'],
    ['list-endpointslices-v1beta1', 'EndpointSlice'],
    ['list-pods', 'Pod'],
    ['list-namespaces-rec', 'Namespace'],
    ['list-configmaps', 'ConfigMap'],
  ] as const;
  return lists.flatMap(([name, kind]) =>
    (transcript(name).response.body?.items ?? []).map((item) => ({ ...item, kind })),
  );
}

const V1_20 = [
  'v1/services',
  'v1/endpoints',
  'v1/namespaces',
  'v1/pods',
  'v1/configmaps',
  'v1/secrets',
  'discovery.k8s.io/v1beta1/endpointslices',
];

let double: ApiServerDouble;
const clock = new ManualClock();

async function start(options: Parameters<typeof ApiServerDouble.start>[0] = {}): Promise<void> {
  double = await ApiServerDouble.start({ objects: recordedObjects(), serves: V1_20, clock, ...options });
}

afterEach(() => double.stop());

async function ask(
  name: string,
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: unknown }> {
  const response = await fetch(double.url + transcript(name).request.path);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** Lists from the cache of an API server have no order, and a version of their own. */
function withoutOrder(body: Transcript['response']['body']): unknown {
  const names = (body?.items ?? []).map((item) => JSON.stringify(item.metadata.name)).sort();
  return { ...body, metadata: { ...body?.metadata, resourceVersion: 'any' }, items: names };
}

test.each([
  'list-empty',
  'list-services-page1-continue',
  'list-services-page2-last',
  'list-endpoints',
  'list-endpointslices-v1beta1',
  'list-namespaces-rec',
  'list-configmaps',
  'api-group-discovery',
  'error-404-endpointslices-v1',
  'error-404-namespaced-object',
  'error-422-watch-sendinitialevents-v120',
  'error-500-rv-invalid',
])('%s: the same status, body and telling headers', async (name) => {
  await start();
  const { response } = transcript(name);
  const answer = await ask(name);
  expect(answer.status).toBe(response.status);
  expect(answer.body).toEqual(response.body);
  for (const header of ['cache-control', 'content-type']) {
    expect(answer.headers.get(header)).toBe(response.headers[header]);
  }
  expect(answer.headers.has('warning')).toBe('warning' in response.headers);
});

test.each(['list-services-rv0', 'list-services-rv0-limit-ignored', 'list-pods'])(
  '%s: all objects, whatever the limit',
  async (name) => {
    await start();
    const answer = await ask(name);
    const body = answer.body as Transcript['response']['body'];
    expect(withoutOrder(body)).toEqual(withoutOrder(transcript(name).response.body));
  },
);

test('version: the same fields', async () => {
  await start();
  const answer = await ask('version');
  expect(Object.keys(answer.body as object)).toEqual(Object.keys(transcript('version').response.body ?? {}));
});

test('error-401-bad-token, error-403-rbac, error-403-rbac-watch', async () => {
  await start({ access: { tokens: { good: 'limited' }, rules: { limited: [] } } });
  expect((await ask('error-401-bad-token')).body).toEqual(transcript('error-401-bad-token').response.body);
  for (const name of ['error-403-rbac', 'error-403-rbac-watch']) {
    const { request, response } = transcript(name);
    const answer = await fetch(double.url + request.path, { headers: { authorization: 'Bearer good' } });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toEqual(response.body);
  }
});

test('error-504-rv-too-large: the same but for the current version', async () => {
  await start();
  const answer = await ask('error-504-rv-too-large');
  const { response } = transcript('error-504-rv-too-large');
  expect(answer.headers.get('retry-after')).toBe(response.headers['retry-after']);
  expect(answer.body).toEqual({ ...response.body, message: expect.stringContaining('current: 28901') });
});

test('error-410-list-exact-rv-compacted, error-410-continue-expired and the list that goes on with its token', async () => {
  await start();
  double.store.put(recordedObjects()[0] as KubernetesObject, 28_913);
  double.compact();
  expect(double.store.version).toBe(28_914);
  expect((await ask('error-410-list-exact-rv-compacted')).body).toEqual(
    transcript('error-410-list-exact-rv-compacted').response.body,
  );
  const expired = await ask('error-410-continue-expired');
  expect(expired.status).toBe(410);
  expect(expired.body).toEqual({
    ...transcript('error-410-continue-expired').response.body,
    message: expect.stringContaining('The provided continue parameter is too old'),
  });
  const inconsistent = (await ask('list-services-inconsistent-continue'))
    .body as Transcript['response']['body'];
  const recorded = transcript('list-services-inconsistent-continue').response.body;
  expect(inconsistent?.metadata).toEqual(recorded?.metadata);
  expect(inconsistent?.items?.map((item) => item.metadata.name)).toEqual(['gossip', 'manual']);
});

/** Opens the recorded watch, plays the recorded changes, and lets time run to its end. */
async function replay(name: string): Promise<{ lines: WatchLine[]; status: number; ended: boolean }> {
  const { request, response } = transcript(name);
  const answer = await fetch(double.url + request.path);
  await waitUntil('the watch to open', () => double.watches.size === 1);
  for (const { type, object } of response.lines ?? []) {
    const version = Number(object.metadata.resourceVersion);
    const { name: objectName, namespace } = object.metadata;
    if (type === 'BOOKMARK') double.bookmark();
    else if (type === 'DELETED') {
      double.store.delete(findByKind(object.kind).plural, `${namespace}/${objectName}`, version);
    } else if (type !== 'ERROR' && version > 28_901) double.store.put(object, version);
  }
  clock.advance(80_000);
  const text = await answer.text();
  const lines = text.split('\n').filter((line) => line !== '');
  return { lines: lines.map((line) => JSON.parse(line)), status: answer.status, ended: true };
}

test.each([
  'watch-services-add-mod-del-bookmark',
  'watch-endpoints-add-mod-del-bookmark',
  'watch-endpointslices-add-mod-del-bookmark',
  'watch-timeout-5s-clean-end',
])('%s: the same lines and a clean end', async (name) => {
  await start({ bookmarkEvery: 1e9 });
  const { lines, status } = await replay(name);
  expect(status).toBe(200);
  expect(lines).toEqual(transcript(name).response.lines);
});

test('watch-rv0-initial-added: what stands comes as ADDED, in any order', async () => {
  await start({ bookmarkEvery: 1e9 });
  const { lines } = await replay('watch-rv0-initial-added');
  const byName = (one: WatchLine, other: WatchLine) =>
    one.object.metadata.name < other.object.metadata.name ? -1 : 1;
  const recorded = transcript('watch-rv0-initial-added').response.lines ?? [];
  expect(lines.toSorted(byName)).toEqual(recorded.toSorted(byName));
});

test.each([
  ['watch-error-410-too-old', 'stays-open'],
  ['watch-error-410-too-old-after-compact', 'ends'],
] as const)('%s: one ERROR, and the stream %s', async (name, afterExpired) => {
  await start({ afterExpired });
  const answer = await fetch(double.url + transcript(name).request.path);
  const reader = answer.body?.getReader();
  const first = await reader?.read();
  const line = JSON.parse(new TextDecoder().decode(first?.value));
  const recorded = transcript(name).response.lines?.[0];
  expect(line.type).toBe('ERROR');
  const message = expect.stringContaining('too old resource version');
  expect(line.object).toEqual({ ...recorded?.object, message });
  let ended = false;
  const end = reader?.read().then(({ done }) => {
    ended = done;
  });
  if (afterExpired === 'stays-open') {
    await waitUntil('the watch to stand', () => double.watches.size === 1);
    expect(ended).toBe(false);
    clock.advance(10_000);
  }
  await end;
  expect(ended).toBe(true);
});
