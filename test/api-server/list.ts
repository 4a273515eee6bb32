/**
 * Lists as an API server returns them: in pages by continue tokens, or complete from its cache for `resourceVersion=0`.
 */
import type { CatalogEntry } from './catalog.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';
import { isSelector, matchesLabels } from './selector.ts';
import {
  badRequest,
  badVersion,
  expiredContinue,
  expiredList,
  type Refusal,
  statusBody,
  versionTooLarge,
} from './status.ts';
import { formatApiVersion, type Target } from './target.ts';

interface Page {
  readonly objects: readonly StoredObject[];
  readonly version: number;
  readonly token: string | undefined;
  readonly remaining: number;
}

interface ContinueToken {
  readonly v: string;
  /** -1 for a list that goes on inconsistently. */
  readonly rv: number;
  /** The first key of the page, relative to the namespace asked for. */
  readonly start: string;
}

export type ListAnswer = { readonly kind: 'list'; readonly text: string } | { readonly refusal: Refusal };

export function answerList(
  store: ObjectStore,
  entry: CatalogEntry,
  target: Target,
  query: URLSearchParams,
): ListAnswer {
  if (!isSelector(query.get('labelSelector') ?? ''))
    return { refusal: badRequest('unable to parse requirement') };
  const found = findPage(store, target, query);
  if ('refusal' in found) return found;
  const metadata = {
    resourceVersion: String(found.version),
    ...(found.token === undefined ? {} : { continue: found.token }),
    ...(found.remaining > 0 && !query.has('fieldSelector') ? { remainingItemCount: found.remaining } : {}),
  };
  const head = `{"kind":"${entry.kind}List","apiVersion":"${formatApiVersion(target)}","metadata":${JSON.stringify(metadata)}`;
  return { kind: 'list', text: `${head},"items":[${found.objects.map((object) => object.text).join(',')}]}` };
}

/** @returns whether an object is among those that the request asks for. */
export function makeFilter(target: Target, query: URLSearchParams): (object: StoredObject) => boolean {
  const selector = query.get('fieldSelector') ?? '';
  const wanted = selector === '' ? [] : selector.split(',').map((term) => term.split(/==?/));
  const labels = query.get('labelSelector') ?? '';
  return (object) =>
    matchesLabels(labels, getLabels(object)) &&
    (target.namespace === '' || object.namespace === target.namespace) &&
    wanted.every(([field = '', value]) => findField(object.object, field) === value);
}

/** @param path as a field selector has it: `metadata.name`, `involvedObject.name` */
function findField(object: object, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (at, name) =>
        typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[name] : undefined,
      object,
    );
}

function getLabels({ object }: StoredObject): Readonly<Record<string, string>> {
  return (object.metadata['labels'] ?? {}) as Readonly<Record<string, string>>;
}

function findPage(
  store: ObjectStore,
  target: Target,
  query: URLSearchParams,
): Page | { readonly refusal: Refusal } {
  const asked = query.get('resourceVersion') ?? '';
  if (!/^\d*$/.test(asked)) return { refusal: badVersion(asked) };
  if (Number(asked) > store.version) return { refusal: versionTooLarge(Number(asked), store.version) };
  const keep = makeFilter(target, query);
  if (asked === '0') return whole(store, target, keep);
  const token = query.get('continue');
  const limit = Number(query.get('limit') ?? 0);
  if (token !== null) return continuePage(store, target, keep, limit, token);
  const exact = query.get('resourceVersionMatch') === 'Exact';
  const version = exact ? Number(asked) : store.version;
  const objects = store.listAt(target.plural, version);
  if (!Array.isArray(objects)) return { refusal: expiredList() };
  return cut(objects.filter(keep), target, version, limit, '');
}

function whole(store: ObjectStore, target: Target, keep: (object: StoredObject) => boolean): Page {
  const objects = store.list(target.plural).filter(keep);
  return { objects, version: store.version, token: undefined, remaining: 0 };
}

function continuePage(
  store: ObjectStore,
  target: Target,
  keep: (object: StoredObject) => boolean,
  limit: number,
  text: string,
): Page | { readonly refusal: Refusal } {
  const token = readToken(text);
  if (token === undefined) {
    const message = 'continue key is not valid: illegal base64 data';
    return { refusal: { status: 400, body: statusBody({ code: 400, message, reason: 'BadRequest' }) } };
  }
  const version = token.rv === -1 ? store.version : token.rv;
  const objects = store.listAt(target.plural, version);
  if (!Array.isArray(objects)) return { refusal: expiredContinue(writeToken({ ...token, rv: -1 })) };
  return cut(objects.filter(keep), target, version, limit, token.start);
}

function cut(
  objects: readonly StoredObject[],
  target: Target,
  version: number,
  limit: number,
  start: string,
): Page {
  const relative = (object: StoredObject) => (target.namespace === '' ? object.key : object.name);
  const first = start === '' ? 0 : objects.findIndex((object) => relative(object) >= start);
  const rest = first === -1 ? [] : objects.slice(first);
  const last = rest[limit - 1];
  if (limit === 0 || last === undefined || rest.length <= limit) {
    return { objects: rest, version, token: undefined, remaining: 0 };
  }
  const token = writeToken({ v: 'meta.k8s.io/v1', rv: version, start: `${relative(last)}\u0000` });
  return { objects: rest.slice(0, limit), version, token, remaining: rest.length - limit };
}

function writeToken(token: ContinueToken): string {
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

function readToken(text: string): ContinueToken | undefined {
  try {
    const token: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    // Any token but our own is answered as an invalid one.
    return typeof token === 'object' && token !== null && 'start' in token
      ? (token as ContinueToken)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The token of a page, for a continue that is told to be expired. */
export function expireToken(text: string): string {
  const token = readToken(text);
  return token === undefined ? text : writeToken({ ...token, rv: -1 });
}
