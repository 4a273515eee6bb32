/**
 * Answers of replicas, which may be of another version than the dashboard: one that lacks what the pages show is refused whole.
 */
import type { Diagnosis } from '@portolan/server/reasons/finding.ts';
import type { HashedName, ZoneBuckets } from '../control/published-names.ts';
import type { WatchedQuery } from '../control/query-stream.ts';
import type { ServerStatus } from '../control/status.ts';
import type { TopSnapshot } from '../control/watch-verbs.ts';

type Kind = 'string' | 'number' | 'boolean' | 'list';
/** The required fields, by their path in the answer. */
type AnswerShape = ReadonlyMap<string, Kind>;

const STATUS: AnswerShape = new Map<string, Kind>([
  ['version', 'string'],
  ['role', 'string'],
  ['ready', 'boolean'],
  ['queries', 'number'],
  ['upstreams', 'list'],
  ['data.kinds', 'list'],
  ['zones', 'list'],
  ['configuration.isLastGood', 'boolean'],
  ['configuration.rejected', 'list'],
  ['configuration.changes', 'number'],
  ['cache.entries', 'number'],
  ['cache.names', 'number'],
  ['readers.running', 'number'],
  ['readers.down', 'number'],
  ['readers.kernelDrops', 'number'],
]);
const ZONE_NAMES: AnswerShape = new Map<string, Kind>([
  ['domain', 'string'],
  ['digest', 'string'],
  ['former', 'list'],
  ['buckets', 'list'],
]);
const NAMED_SERVICE: AnswerShape = new Map<string, Kind>([
  ['domain', 'string'],
  ['name', 'string'],
  ['hash', 'string'],
]);
const DIAGNOSIS: AnswerShape = new Map<string, Kind>([
  ['findings', 'list'],
  ['checked', 'list'],
  ['notChecked', 'list'],
]);
const TOP: AnswerShape = new Map<string, Kind>([
  ['seconds', 'number'],
  ['queries', 'number'],
  ['lost', 'number'],
  ['sampling', 'number'],
  ['isPast', 'boolean'],
  ['searched', 'number'],
  ['searches', 'list'],
  ['unlisted.rcodes', 'number'],
  ['unlisted.sources', 'number'],
  ['unlisted.names', 'number'],
  ['unlisted.clients', 'number'],
  ['unlisted.namespaces', 'number'],
  ['unlisted.failures', 'number'],
  ['rcodes', 'list'],
  ['sources', 'list'],
  ['names', 'list'],
  ['clients', 'list'],
  ['namespaces', 'list'],
  ['failures', 'list'],
  ['upstreams', 'list'],
]);

const QUERY: AnswerShape = new Map<string, Kind>([
  ['time', 'string'],
  ['client', 'string'],
  ['name', 'string'],
  ['type', 'string'],
  ['rcode', 'string'],
  ['answers', 'number'],
  ['milliseconds', 'number'],
  ['source', 'string'],
]);
const LOST: AnswerShape = new Map<string, Kind>([['lost', 'number']]);

/** @throws Error for people */
export const readStatus = (answer: unknown): ServerStatus => read<ServerStatus>(answer, STATUS);

/** @throws Error for people */
export const readDiagnosis = (answer: unknown): Diagnosis => read<Diagnosis>(answer, DIAGNOSIS);

/** @throws Error for people */
export const readZoneNames = (answer: unknown): ZoneBuckets => read<ZoneBuckets>(answer, ZONE_NAMES);

/** @throws Error for people */
export const readNamedService = (answer: unknown): HashedName => read<HashedName>(answer, NAMED_SERVICE);

/** @throws Error for people */
export const readTop = (answer: unknown): TopSnapshot => read<TopSnapshot>(answer, TOP);

/** A query, or the number of those that were lost. @throws Error for people */
export function readTail(answer: unknown): WatchedQuery | { readonly lost: number } {
  if (findMissing(answer, LOST) === undefined) return read<{ readonly lost: number }>(answer, LOST);
  return read<WatchedQuery>(answer, QUERY);
}

function read<Answer>(answer: unknown, shape: AnswerShape): Answer {
  const missing = findMissing(answer, shape);
  if (missing !== undefined)
    throw new Error(
      `the answer of the server has no ${missing}: it is of another version. Use the portolan command of that version.`,
    );
  // The fields that the pages use are there; lists are ours.
  return answer as Answer;
}

/** @returns the first field that is missing, or of another kind */
function findMissing(answer: unknown, shape: AnswerShape): string | undefined {
  if (typeof answer !== 'object' || answer === null) return 'fields';
  for (const [path, kind] of shape) {
    const found = path.split('.').reduce<unknown>(readField, answer);
    if (!isOfKind(kind, found)) return path;
  }
  return undefined;
}

function readField(value: unknown, field: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return new Map<string, unknown>(Object.entries(value)).get(field);
}

function isOfKind(kind: Kind, value: unknown): boolean {
  switch (kind) {
    case 'list':
      return Array.isArray(value);
    case 'string':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'boolean':
      return typeof value === 'boolean';
  }
}
