/**
 * Creates, replaces, patches and deletes objects over the network, for tests that also run against a real cluster.
 */
import type { IncomingMessage } from 'node:http';
import type { CatalogEntry } from './catalog.ts';
import { mergePatch, strategicMerge } from './merge-patch.ts';
import type { KubernetesObject, ObjectStore } from './object-store.ts';
import type { Responder } from './responder.ts';
import { applyScale, describeScale } from './scale.ts';
import { serverSideApply } from './server-side-apply.ts';
import { alreadyExists, badRequest, conflict, notFound } from './status.ts';
import { formatApiVersion, type Target, type Verb } from './target.ts';

export function answerWrite(
  store: ObjectStore,
  entry: CatalogEntry,
  target: Target,
  verb: Verb,
  request: IncomingMessage,
  responder: Responder,
): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (verb === 'delete') remove(store, target, responder);
    else if (request.headers['content-type'] === 'application/apply-patch+yaml')
      apply(store, entry, target, new URL(request.url ?? '/', 'http://double'), chunks, responder);
    else {
      const isStrategic = request.headers['content-type'] === 'application/strategic-merge-patch+json';
      const merge = isStrategic ? strategicMerge : mergePatch;
      save(store, entry, target, verb, Buffer.concat(chunks).toString(), responder, merge);
    }
  });
}

function remove(store: ObjectStore, target: Target, responder: Responder): void {
  const gone = store.delete(target.plural, toObjectKey(target));
  if (gone === undefined) responder.refuse(notFound(target));
  else responder.sendJson(200, '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}');
}

/** JSON alone, which is YAML. An object that is not there would be created, which Portolan never wants. */
function apply(
  store: ObjectStore,
  entry: CatalogEntry,
  target: Target,
  { searchParams: query }: URL,
  chunks: readonly Buffer[],
  responder: Responder,
): void {
  const body = readBody(Buffer.concat(chunks).toString());
  const held = store.get(target.plural, toObjectKey(target));
  const before = held?.object;
  const { resourceVersion } = body?.metadata ?? {};
  const manager = query.get('fieldManager') ?? '';
  if (body === undefined || manager === '') {
    responder.refuse(badRequest('an apply needs an object and a fieldManager'));
    return;
  }
  if (before === undefined) {
    responder.refuse(notFound(target));
    return;
  }
  const applied = serverSideApply(before, body, manager, query.get('force') === 'true');
  const isStale = resourceVersion !== undefined && resourceVersion !== String(held?.version);
  if (isStale || applied.kind === 'conflict') {
    responder.refuse(conflict(target));
    return;
  }
  const object = identify(entry, target, { ...applied.object });
  const head = `{"kind":"${entry.kind}","apiVersion":"${formatApiVersion(target)}",`;
  // A dry run stores nothing, and answers with the object as it would be.
  const text =
    query.get('dryRun') === 'All'
      ? JSON.stringify(object)
      : head + store.put(raise(before, object)).text.slice(1);
  responder.sendJson(200, text);
}

/** The generation counts changes of the spec. */
function raise(before: KubernetesObject, object: KubernetesObject): KubernetesObject {
  const isChanged = JSON.stringify(before['spec']) !== JSON.stringify(object['spec']);
  const generation = Number(before.metadata['generation'] ?? 1) + (isChanged ? 1 : 0);
  const metadata = { ...object.metadata, generation };
  return {
    ...object,
    metadata: object.kind === 'DaemonSet' ? countTemplates(metadata, isChanged) : metadata,
  };
}

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/** As Kubernetes 1.34 does: it counts changes of a DaemonSet's pods in an annotation too, which nobody applies. */
function countTemplates(
  metadata: KubernetesObject['metadata'],
  isChanged: boolean,
): KubernetesObject['metadata'] {
  const annotations = (metadata['annotations'] ?? {}) as Readonly<Record<string, string>>;
  const count = Number(annotations[TEMPLATE_GENERATION] ?? 1) + (isChanged ? 1 : 0);
  return { ...metadata, annotations: { ...annotations, [TEMPLATE_GENERATION]: String(count) } };
}

function save(
  store: ObjectStore,
  entry: CatalogEntry,
  target: Target,
  verb: Verb,
  text: string,
  responder: Responder,
  merge: typeof mergePatch,
): void {
  const body = readBody(text);
  const name = verb === 'create' ? body?.['metadata']?.name : target.name;
  if (body === undefined || typeof name !== 'string') {
    responder.refuse(badRequest('the body is not an object with metadata.name'));
    return;
  }
  const named = { ...target, name };
  const held = store.get(target.plural, toObjectKey(named));
  const before = held?.object;
  const { resourceVersion } = body.metadata ?? {};
  if (verb === 'create' && before !== undefined) responder.refuse(alreadyExists(named));
  else if (verb !== 'create' && before === undefined) responder.refuse(notFound(named));
  else if (verb === 'update' && resourceVersion !== undefined && resourceVersion !== String(held?.version))
    responder.refuse(conflict(named));
  else if (target.subresource === 'scale' && before !== undefined)
    responder.sendJson(200, describeScale(store.put(applyScale(before, body))));
  else {
    const object = identify(entry, named, change(before, body, verb, target, merge));
    const stored = store.put(entry.kind === 'Service' ? assignAddress(store, object) : object);
    const head = `{"kind":"${entry.kind}","apiVersion":"${formatApiVersion(target)}",`;
    responder.sendJson(verb === 'create' ? 201 : 200, head + stored.text.slice(1));
  }
}

/** What a body says; of its fields none is sure to be there. */
type Body = Readonly<Record<string, unknown>> & {
  readonly metadata?: { readonly name?: unknown; readonly resourceVersion?: string };
};

function readBody(text: string): Body | undefined {
  try {
    const body: unknown = JSON.parse(text);
    // Tests write to their own server: what is an object has the fields of one.
    return typeof body === 'object' && body !== null ? (body as Body) : undefined;
  } catch {
    return undefined;
  }
}

/** A subresource changes its field alone, which has its name. */
function change(
  before: KubernetesObject | undefined,
  body: Body,
  verb: Verb,
  { subresource }: Target,
  merge: typeof mergePatch,
): Body {
  const after = verb === 'patch' ? (merge(before, body) as Body) : body;
  return subresource === '' ? after : { ...before, [subresource]: after[subresource] };
}

function identify({ kind, namespaced }: CatalogEntry, target: Target, body: Body): KubernetesObject {
  const { name, namespace } = target;
  return { ...body, kind, metadata: { ...body.metadata, name, ...(namespaced ? { namespace } : {}) } };
}

/** A Service with an address of its own gets one, or one of each family, as from a real API server with two. */
function assignAddress(store: ObjectStore, object: KubernetesObject): KubernetesObject {
  const spec = (object['spec'] ?? {}) as Record<string, unknown>;
  if (spec['type'] === 'ExternalName' || typeof spec['clusterIP'] === 'string') return object;
  const number = store.version % 65_025;
  const clusterIP = `10.97.${1 + Math.floor(number / 255)}.${1 + (number % 254)}`;
  const isDual = String(spec['ipFamilyPolicy'] ?? '').endsWith('DualStack');
  const clusterIPs = isDual ? [clusterIP, `fd00:10:97::${(number + 1).toString(16)}`] : [clusterIP];
  return { ...object, spec: { ...spec, clusterIP, clusterIPs } };
}

function toObjectKey(target: Target): string {
  return target.namespace === '' ? target.name : `${target.namespace}/${target.name}`;
}
