/**
 * Answers of replicas, which may be of another version than the dashboard: one that lacks what the pages show is refused whole.
 */
import type { Diagnosis } from '../../reasons/finding.ts';
import type { ServerStatus } from '../control/status.ts';
import type { TopSnapshot } from '../control/watch-verbs.ts';

type Kind = 'string' | 'number' | 'boolean' | 'list';
/** What fields there must be, at any depth. */
type Shape = { readonly [field: string]: Kind | Shape };

const STATUS: Shape = {
  ...{ version: 'string', role: 'string', ready: 'boolean', queries: 'number', upstreams: 'list' },
  data: { kinds: 'list' },
  configuration: { isLastGood: 'boolean', rejected: 'list', changes: 'number' },
  cache: { entries: 'number', names: 'number' },
  readers: { running: 'number', down: 'number', kernelDrops: 'number' },
};
const DIAGNOSIS: Shape = { findings: 'list', checked: 'list', notChecked: 'list' };
const TOP: Shape = {
  ...{ seconds: 'number', queries: 'number', lost: 'number', searched: 'number', rcodes: 'list' },
  ...{
    sources: 'list',
    names: 'list',
    clients: 'list',
    namespaces: 'list',
    failures: 'list',
    upstreams: 'list',
  },
};

/** @throws Error for people */
export const readStatus = (answer: unknown): ServerStatus => read<ServerStatus>(answer, STATUS);

/** @throws Error for people */
export const readDiagnosis = (answer: unknown): Diagnosis => read<Diagnosis>(answer, DIAGNOSIS);

/** @throws Error for people */
export const readTop = (answer: unknown): TopSnapshot => read<TopSnapshot>(answer, TOP);

function read<Answer>(answer: unknown, shape: Shape): Answer {
  const missing = findMissing(answer, shape);
  if (missing !== undefined)
    throw new Error(
      `the answer of the server has no ${missing}: it is of another version. Use the portolan command of that version.`,
    );
  // The fields that the pages use are there; lists are ours.
  return answer as Answer;
}

/** @returns the first field that is missing, or of another kind */
function findMissing(value: unknown, shape: Shape, path: readonly string[] = []): string | undefined {
  if (typeof value !== 'object' || value === null) return path.length === 0 ? 'fields' : path.join('.');
  const fields = new Map(Object.entries(value));
  for (const [field, expected] of Object.entries(shape)) {
    const found: unknown = fields.get(field);
    const here = [...path, field];
    const missing = typeof expected === 'object' ? findMissing(found, expected, here) : undefined;
    if (missing !== undefined) return missing;
    const isThere = typeof expected === 'object' || isOf(expected, found);
    if (!isThere) return here.join('.');
  }
  return undefined;
}

function isOf(kind: Kind, value: unknown): boolean {
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
