/**
 * Creating, replacing and deleting objects over the network, as a test that also runs against a real cluster does it.
 */
import type { IncomingMessage } from 'node:http';
import type { CatalogEntry } from './catalog.ts';
import type { KubernetesObject, ObjectStore } from './object-store.ts';
import type { Responder } from './responder.ts';
import { alreadyExists, badRequest, notFound } from './status.ts';
import { apiVersionOf, type Target, type Verb } from './target.ts';

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
    else save(store, entry, target, verb, Buffer.concat(chunks).toString(), responder);
  });
}

function remove(store: ObjectStore, target: Target, responder: Responder): void {
  const gone = store.delete(target.plural, keyOf(target));
  if (gone === undefined) responder.refuse(notFound(target));
  else responder.sendJson(200, '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}');
}

function save(
  store: ObjectStore,
  entry: CatalogEntry,
  target: Target,
  verb: Verb,
  text: string,
  responder: Responder,
): void {
  const object = readObject(entry, target, text);
  if (object === undefined) {
    responder.refuse(badRequest('the body is not an object with metadata.name'));
    return;
  }
  const named = { ...target, name: object.metadata.name };
  const exists = store.get(target.plural, keyOf(named)) !== undefined;
  if (verb === 'create' && exists) responder.refuse(alreadyExists(named));
  else if (verb === 'update' && !exists) responder.refuse(notFound(named));
  else {
    const stored = store.put(entry.kind === 'Service' ? assignAddress(store, object) : object);
    const head = `{"kind":"${entry.kind}","apiVersion":"${apiVersionOf(target)}",`;
    responder.sendJson(verb === 'create' ? 201 : 200, head + stored.text.slice(1));
  }
}

function readObject(entry: CatalogEntry, target: Target, text: string): KubernetesObject | undefined {
  try {
    // Tests write to their own server: what has a name is taken for an object.
    const object = JSON.parse(text) as KubernetesObject;
    const scope = entry.namespaced ? { namespace: target.namespace } : {};
    if (typeof object.metadata?.name !== 'string') return undefined;
    return { ...object, kind: entry.kind, metadata: { ...object.metadata, ...scope } };
  } catch {
    return undefined;
  }
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

function keyOf(target: Target): string {
  return target.namespace === '' ? target.name : `${target.namespace}/${target.name}`;
}
