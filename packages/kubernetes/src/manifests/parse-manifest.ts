/**
 * Parses a manifest file into trimmed objects with their line numbers.
 *
 * A file is valid or invalid as a whole: the valid part of a broken file is never served.
 */
import { isIP } from 'node:net';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { ItemFault } from '@portolan/kernel/base/item-guard.ts';
import { type Document, isMap, isNode, isSeq, LineCounter, type Node, type ParsedNode } from 'yaml';
import type { ClusterObject } from '../objects/objects.ts';
import { asList, asRecord, asText, asTexts, type JsonRecord } from '../objects/trim/fields.ts';
import { trimEndpointSlice } from '../objects/trim/trim-endpoint-slice.ts';
import { trimEndpoints } from '../objects/trim/trim-endpoints.ts';
import { trimNamespace } from '../objects/trim/trim-namespace.ts';
import { trimPod } from '../objects/trim/trim-pod.ts';
import { trimService } from '../objects/trim/trim-service.ts';
import type { Trim } from '../objects/trim/trimmed.ts';
import { parseYaml } from '../yaml/parse-yaml.ts';

export class ManifestError extends ItemFault {
  override readonly name = 'ManifestError';
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly reason: string;

  constructor(file: string, line: number, reason: string) {
    super('malformed', `bad manifest: ${file}:${line}: ${reason}`);
    this.file = file;
    this.line = line;
    this.reason = reason;
  }
}

/** An object for DNS, and its location. */
export interface ManifestObject {
  readonly object: ClusterObject;
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** The address families of a service. Used only to make up missing addresses. */
  readonly families: readonly IpFamily[];
}

export type IpFamily = 'IPv4' | 'IPv6';

export interface Manifest {
  readonly objects: readonly ManifestObject[];
  /** Kinds in the file that DNS does not use. */
  readonly ignoredKinds: readonly string[];
}

const SLICES = 'discovery.k8s.io/';
/** The kinds of the core group, all `v1`. */
const CORE: ReadonlyMap<string, Trim<ClusterObject>> = new Map<string, Trim<ClusterObject>>([
  ['Service', trimService],
  ['Endpoints', trimEndpoints],
  ['Namespace', trimNamespace],
  ['Pod', trimPod],
]);
/** Kinds of other groups may have any case: authors of custom resources choose them. */
const CORE_KIND = /^[A-Z][A-Za-z]*$/;
const ANY_KIND = /^[A-Za-z][A-Za-z0-9-]*$/;
/** `kubectl get` puts lists of one kind into one list. */
const MAX_LISTS = 10;

/** An object as in the file. */
interface FoundObject {
  readonly raw: JsonRecord;
  readonly apiVersion: string;
  readonly kind: string;
  readonly line: number;
  /** The line of a field of the object. */
  readonly lineAt: (path: readonly string[]) => number;
}

/** @throws ManifestError */
export function parseManifest(file: string, text: string): Manifest {
  const objects: ManifestObject[] = [];
  const ignoredKinds = new Set<string>();
  for (const found of findObjects(file, text)) {
    const trim = found.apiVersion === 'v1' ? CORE.get(found.kind) : trimSlices(found);
    if (trim === undefined) {
      ignoredKinds.add(found.kind);
      continue;
    }
    const trimmed = trim(withNamespace(found));
    if (trimmed.kind === 'malformed')
      throw new ManifestError(file, found.line, `${found.kind}: ${trimmed.problem}`);
    checkClusterIPs(file, found);
    if (trimmed.kind === 'object')
      objects.push({
        object: trimmed.object,
        file,
        line: found.line,
        families: readFamilies(found, trimmed.object),
      });
  }
  return { objects, ignoredKinds: [...ignoredKinds] };
}

/** An invalid address must not count as missing: it would be replaced by a made-up one. */
function checkClusterIPs(file: string, { kind, raw, lineAt }: FoundObject): void {
  const spec = kind === 'Service' ? asRecord(raw['spec']) : undefined;
  if (spec === undefined || spec['type'] === 'ExternalName') return;
  for (const field of ['clusterIP', 'clusterIPs']) {
    const value = spec[field];
    const values = Array.isArray(value) ? value : [value ?? ''];
    const wrong = values.find(
      (one) => one !== '' && one !== 'None' && (typeof one !== 'string' || isIP(one) === 0),
    );
    if (wrong === undefined) continue;
    const reason = `Service: spec.${field} is not an IP address: ${String(wrong)}`;
    throw new ManifestError(file, lineAt(['spec', field]), reason);
  }
}

function trimSlices({ apiVersion, kind }: FoundObject): Trim<ClusterObject> | undefined {
  return kind === 'EndpointSlice' && apiVersion.startsWith(SLICES) ? trimEndpointSlice : undefined;
}

/** As kubectl does, puts an object without a namespace into `default`. */
function withNamespace({ raw, kind }: FoundObject): JsonRecord {
  const metadata = asRecord(raw['metadata']);
  if (metadata === undefined || kind === 'Namespace' || asText(metadata['namespace']) !== undefined)
    return raw;
  return { ...raw, metadata: { ...metadata, namespace: 'default' } };
}

function readFamilies({ raw }: FoundObject, object: ClusterObject): readonly IpFamily[] {
  const wanted = object.kind === 'Service' ? asTexts(asRecord(raw['spec'])?.['ipFamilies']) : [];
  const families = (['IPv4', 'IPv6'] as const).filter((family) => wanted.includes(family));
  return families.length === 0 ? ['IPv4'] : families;
}

function findObjects(file: string, text: string): Iterable<FoundObject> {
  return file.endsWith('.json') ? findInJson(file, text) : findInYaml(file, text);
}

function* findInJson(file: string, text: string): Generator<FoundObject> {
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
  const items = itemOffsets(text);
  const candidate: Candidate = {
    value: parseJson(file, text),
    line: 1,
    inherited: undefined,
    place: 'document',
    lists: 0,
  };
  yield* unfold(file, candidate, (place, path) => {
    const above = place === 'document' ? [] : ['items', place];
    if (path.length > 0) return lineInJson(text, [...above, ...path]);
    return place === 'document' ? 1 : lineAt(items[place] ?? 0);
  });
}

/** The line of a field in JSON. The YAML parser, which also reads JSON, knows it; it is used only for invalid files. */
function lineInJson(text: string, path: readonly (string | number)[]): number {
  const lines = new LineCounter();
  const node = parseYaml(text, { logLevel: 'error' }, lines)[0]?.getIn(path, true);
  return lines.linePos((isNode(node) ? node.range?.[0] : undefined) ?? 0).line;
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const message = describeError(error);
    const lines = new LineCounter();
    const [wrong] = parseYaml(text, { logLevel: 'error' }, lines).flatMap(({ errors }) => errors);
    // The message may lack a position. Invalid JSON is mostly invalid YAML too, and the YAML parser always has a position.
    const offset = Number(/ at position (\d+)/.exec(message)?.[1] ?? wrong?.pos[0] ?? 0);
    throw new ManifestError(file, lines.linePos(offset).line, `not JSON: ${message}`);
  }
}

/** Offsets of the items of a list: the objects in the array `items` of the outermost object of a JSON text. */
function itemOffsets(text: string): readonly number[] {
  const offsets: number[] = [];
  let depth = 0;
  let key = '';
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === '{' && depth === 2 && key === '"items"') offsets.push(index);
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    // The last string before an array is its key.
    else if (depth === 1) key = token;
  }
  return offsets;
}

function* findInYaml(file: string, text: string): Generator<FoundObject> {
  const lines = new LineCounter();
  const toLineNumber = (node: Node | null | undefined) => lines.linePos(node?.range?.[0] ?? 0).line;
  for (const document of parseYaml(text, { merge: true, logLevel: 'error' }, lines)) {
    const [error] = document.errors;
    if (error !== undefined)
      throw new ManifestError(file, lines.linePos(error.pos[0]).line, firstLine(error.message));
    const line = toLineNumber(document.contents);
    const value = toValue(file, line, document);
    if (value === null) continue;
    const findNode = (place: PlaceInDocument) =>
      place === 'document' ? document.contents : findItem(document.contents, place);
    yield* unfold(file, { value, line, inherited: undefined, place: 'document', lists: 0 }, (place, path) => {
      const node = findNode(place);
      const field = path.length > 0 && isMap(node) ? node.getIn(path, true) : node;
      return toLineNumber(isNode(field) ? field : node);
    });
  }
}

/** Aliases may expand a small file enormously: exceeding the parser's limit on them makes the file invalid. */
function toValue(file: string, line: number, document: Document.Parsed): unknown {
  try {
    return document.toJS({ maxAliasCount: 1_000 });
  } catch (error) {
    throw new ManifestError(file, line, describeError(error));
  }
}

/** The place of an object: the document itself, or the index of an item in its list. */
type PlaceInDocument = 'document' | number;

type LineFinder = (place: PlaceInDocument, path: readonly string[]) => number;

interface Candidate {
  readonly value: unknown;
  readonly line: number;
  readonly place: PlaceInDocument;
  /** Lists around it. */
  readonly lists: number;
  /** Fields that items inherit from their list. */
  readonly inherited: { readonly apiVersion: string; readonly kind: string } | undefined;
}

/** An object itself, or the items of a list (`List`, `ServiceList`). */
function* unfold(file: string, candidate: Candidate, findLine: LineFinder): Generator<FoundObject> {
  const { value, line, inherited, place, lists } = candidate;
  if (lists > MAX_LISTS) throw new ManifestError(file, line, `more than ${MAX_LISTS} lists in one another`);
  const raw = asRecord(value);
  if (raw === undefined) throw new ManifestError(file, line, 'not an object of Kubernetes');
  const apiVersion = asText(raw['apiVersion']) ?? inherited?.apiVersion;
  const kind = asText(raw['kind']) ?? inherited?.kind;
  if (apiVersion === undefined || kind === undefined)
    throw new ManifestError(file, line, `${apiVersion === undefined ? 'apiVersion' : 'kind'} is missing`);
  if (!(apiVersion === 'v1' ? CORE_KIND : ANY_KIND).test(kind))
    throw new ManifestError(file, line, `not a kind of ${apiVersion}: ${kind}`);
  if (!kind.endsWith('List') || !Array.isArray(raw['items'])) {
    yield { raw, apiVersion, kind, line, lineAt: (path) => findLine(place, path) };
    return;
  }
  const ofItems = kind === 'List' ? undefined : { apiVersion, kind: kind.slice(0, -'List'.length) };
  for (const [index, item] of asList(raw['items']).entries()) {
    // For lists in lists, use the line of the outer item.
    const inner = place === 'document' ? index : place;
    yield* unfold(
      file,
      { value: item, line: findLine(inner, []), inherited: ofItems, place: inner, lists: lists + 1 },
      findLine,
    );
  }
}

function findItem(contents: ParsedNode | null, index: number): Node | undefined {
  const items = isMap(contents) ? contents.get('items', true) : undefined;
  // The items of a parsed sequence are nodes.
  return isSeq(items) ? (items.items[index] as Node | undefined) : undefined;
}

function firstLine(message: string): string {
  return message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? message;
}
