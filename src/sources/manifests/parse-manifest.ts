/**
 * One manifest file, from its text to trimmed objects with the lines they stand in.
 *
 * A file is good as a whole or bad as a whole: what is served never comes from the readable half of a broken file.
 */
import {
  type Document,
  isMap,
  isSeq,
  LineCounter,
  type Node,
  type ParsedNode,
  parseAllDocuments,
} from 'yaml';
import type { ClusterObject } from '../../kube/objects.ts';
import { asList, asRecord, asText, asTexts, type JsonRecord } from '../../kube/trim/fields.ts';
import { trimEndpointSlice } from '../../kube/trim/trim-endpoint-slice.ts';
import { trimEndpoints } from '../../kube/trim/trim-endpoints.ts';
import { trimNamespace } from '../../kube/trim/trim-namespace.ts';
import { trimPod } from '../../kube/trim/trim-pod.ts';
import { trimService } from '../../kube/trim/trim-service.ts';
import type { Trim } from '../../kube/trim/trimmed.ts';

export class ManifestError extends Error {
  override readonly name = 'ManifestError';
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly reason: string;

  constructor(file: string, line: number, reason: string) {
    super(`bad manifest: ${file}:${line}: ${reason}`);
    this.file = file;
    this.line = line;
    this.reason = reason;
  }
}

/** An object for DNS, and where it was found. */
export interface ManifestObject {
  readonly object: ClusterObject;
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** The families a service wants addresses of when it has none: of no other meaning. */
  readonly families: readonly AddressFamily[];
}

export type AddressFamily = 'IPv4' | 'IPv6';

export interface Manifest {
  readonly objects: readonly ManifestObject[];
  /** Kinds that were met and mean nothing to DNS. */
  readonly ignoredKinds: readonly string[];
}

const SLICES = 'discovery.k8s.io/';
/** The kinds of the core group, all `v1`. */
const CORE: Readonly<Record<string, Trim<ClusterObject>>> = {
  Service: trimService,
  Endpoints: trimEndpoints,
  Namespace: trimNamespace,
  Pod: trimPod,
};

/** An object as it stands in the file. */
interface Found {
  readonly raw: JsonRecord;
  readonly apiVersion: string;
  readonly kind: string;
  readonly line: number;
}

/** @throws ManifestError */
export function parseManifest(file: string, text: string): Manifest {
  const objects: ManifestObject[] = [];
  const ignoredKinds = new Set<string>();
  for (const found of findObjects(file, text)) {
    const trim = found.apiVersion === 'v1' ? CORE[found.kind] : trimSlices(found);
    if (trim === undefined) {
      ignoredKinds.add(found.kind);
      continue;
    }
    const trimmed = trim(withNamespace(found));
    if (trimmed.kind === 'malformed')
      throw new ManifestError(file, found.line, `${found.kind}: ${trimmed.problem}`);
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

function trimSlices({ apiVersion, kind }: Found): Trim<ClusterObject> | undefined {
  return kind === 'EndpointSlice' && apiVersion.startsWith(SLICES) ? trimEndpointSlice : undefined;
}

/** As kubectl does: an object that names no namespace is put into `default`. */
function withNamespace({ raw, kind }: Found): JsonRecord {
  const metadata = asRecord(raw['metadata']);
  if (metadata === undefined || kind === 'Namespace' || asText(metadata['namespace']) !== undefined)
    return raw;
  return { ...raw, metadata: { ...metadata, namespace: 'default' } };
}

function readFamilies({ raw }: Found, object: ClusterObject): readonly AddressFamily[] {
  const wanted = object.kind === 'Service' ? asTexts(asRecord(raw['spec'])?.['ipFamilies']) : [];
  const families = (['IPv4', 'IPv6'] as const).filter((family) => wanted.includes(family));
  return families.length === 0 ? ['IPv4'] : families;
}

function* findObjects(file: string, text: string): Generator<Found> {
  const lines = new LineCounter();
  const lineOf = (node: Node | null | undefined) => lines.linePos(node?.range?.[0] ?? 0).line;
  for (const document of parseAllDocuments(text, { lineCounter: lines, merge: true, logLevel: 'error' })) {
    const [error] = document.errors;
    if (error !== undefined)
      throw new ManifestError(file, lines.linePos(error.pos[0]).line, firstLine(error.message));
    const line = lineOf(document.contents);
    const value = toValue(file, line, document);
    if (value === null) continue;
    yield* unfold(file, { value, line, inherited: undefined }, (index) =>
      lineOf(itemOf(document.contents, index)),
    );
  }
}

/** Aliases may blow up a small file: the parser's own limit on them ends as a bad file. */
function toValue(file: string, line: number, document: Document.Parsed): unknown {
  try {
    return document.toJS({ maxAliasCount: 1_000 });
  } catch (error) {
    throw new ManifestError(file, line, error instanceof Error ? error.message : String(error));
  }
}

interface Candidate {
  readonly value: unknown;
  readonly line: number;
  /** What a list says of its items, which need not repeat it. */
  readonly inherited: { readonly apiVersion: string; readonly kind: string } | undefined;
}

/** An object itself, or the items of a list (`List`, `ServiceList`). */
function* unfold(
  file: string,
  candidate: Candidate,
  lineOfItem: (index: number) => number,
): Generator<Found> {
  const { value, line, inherited } = candidate;
  const raw = asRecord(value);
  if (raw === undefined) throw new ManifestError(file, line, 'not an object of Kubernetes');
  const apiVersion = asText(raw['apiVersion']) ?? inherited?.apiVersion;
  const kind = asText(raw['kind']) ?? inherited?.kind;
  if (apiVersion === undefined || kind === undefined)
    throw new ManifestError(file, line, `${apiVersion === undefined ? 'apiVersion' : 'kind'} is missing`);
  if (!kind.endsWith('List') || !Array.isArray(raw['items'])) {
    yield { raw, apiVersion, kind, line };
    return;
  }
  const ofItems = kind === 'List' ? undefined : { apiVersion, kind: kind.slice(0, -'List'.length) };
  for (const [index, item] of asList(raw['items']).entries()) {
    const itemLine = lineOfItem(index);
    yield* unfold(file, { value: item, line: itemLine, inherited: ofItems }, () => itemLine);
  }
}

function itemOf(contents: ParsedNode | null, index: number): Node | undefined {
  const items = isMap(contents) ? contents.get('items', true) : undefined;
  // A parsed sequence holds nodes.
  return isSeq(items) ? (items.items[index] as Node | undefined) : undefined;
}

function firstLine(message: string): string {
  return message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? message;
}
