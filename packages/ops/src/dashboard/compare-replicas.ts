/**
 * Compares replicas with each other, and a replica with its former self. Pure functions.
 */
import type { ServerStatus, UpstreamStatus } from '../control/status.ts';
import type { Cell, Change, ComparedReplica, ReplicaState } from './page-state.ts';

/** From how many median absolute deviations a number is marked. */
const MARKED_FROM = 3;
/** Fewer replicas have no usual value. */
const MIN_REPLICAS = 3;
/** A smaller difference from the median, as a share of it, marks no replica, whatever the deviation. */
const MIN_RATIO = 0.1;

interface Column {
  readonly column: string;
  readonly show: (replica: ReplicaState) => string;
  /** Undefined: compared as text. */
  readonly measure?: (replica: ReplicaState) => number | undefined;
  /** Whether replicas may differ. */
  readonly isOwn?: true;
}

const NOTHING = '–';

const COLUMNS: readonly Column[] = [
  { column: 'ready', show: ({ status }) => readyWord(status) },
  { column: 'version', show: ({ status }) => status?.version ?? NOTHING },
  { column: 'role', show: ({ status }) => status?.role ?? NOTHING },
  {
    column: 'data age',
    show: ({ status }) => milliseconds(status?.data.age),
    measure: ({ status }) => status?.data.age,
  },
  {
    column: 'configuration',
    show: ({ status }) => configurationWord(status),
  },
  { column: 'queries/s', show: ({ rate }) => number(rate), measure: ({ rate }) => rate },
  {
    column: 'cached',
    show: ({ status }) => number(status?.cache.entries),
    measure: ({ status }) => status?.cache.entries,
  },
  {
    column: 'names',
    show: ({ status }) => number(status?.cache.names),
    measure: ({ status }) => status?.cache.names,
  },
  { column: 'objects', show: ({ status }) => objectWords(status?.data.kinds ?? []) },
  { column: 'readers', show: ({ status }) => readerWords(status) },
  // Replicas may be a moment apart, so a difference has no note; those that stay are a finding.
  { column: 'services', show: ({ status }) => zoneWords(status?.zones ?? []), isOwn: true },
  {
    column: 'drops',
    show: ({ status }) => number(status?.readers.kernelDrops),
    measure: ({ status }) => status?.readers.kernelDrops,
  },
  {
    column: 'upstream servers',
    show: ({ status }) => upstreamWords(status?.upstreams ?? []),
    isOwn: true,
  },
];

export function compareReplicas(replicas: readonly ReplicaState[]): readonly ComparedReplica[] {
  const known = replicas.filter(({ status }) => status !== undefined);
  const notes = COLUMNS.map((column) => computeNotes(column, known));
  return replicas.map((replica) => ({
    name: replica.name,
    error: replica.error,
    cells: COLUMNS.map(({ column, show }, index) => {
      const note = notes[index]?.get(replica.name);
      return { column, value: show(replica), ...(note !== undefined && { note }) } satisfies Cell;
    }),
  }));
}

/** By the name of the replica. */
function computeNotes(column: Column, replicas: readonly ReplicaState[]): ReadonlyMap<string, string> {
  const { measure, show, isOwn = false } = column;
  if (isOwn || replicas.length < 2) return new Map();
  if (measure !== undefined) return numberNotes(replicas, measure);
  const counts = new Map<string, number>();
  for (const replica of replicas) counts.set(show(replica), (counts.get(show(replica)) ?? 0) + 1);
  const [usual, count = 0] = [...counts].sort(([, one], [, other]) => other - one)[0] ?? [];
  const isTie = [...counts.values()].filter((each) => each === count).length > 1;
  return new Map(
    replicas.flatMap((replica) => {
      if (show(replica) === usual && !isTie) return [];
      return counts.size > 1 ? [[replica.name, isTie ? 'differ' : `others: ${usual}`] as const] : [];
    }),
  );
}

function numberNotes(
  replicas: readonly ReplicaState[],
  measure: (replica: ReplicaState) => number | undefined,
): ReadonlyMap<string, string> {
  const measured = replicas.flatMap((replica) => {
    const value = measure(replica);
    return value === undefined ? [] : [{ name: replica.name, value }];
  });
  if (measured.length < MIN_REPLICAS) return new Map();
  const middle = computeMedian(measured.map(({ value }) => value));
  const deviation = computeMedian(measured.map(({ value }) => Math.abs(value - middle)));
  const isMarked = (value: number) =>
    Math.abs(value - middle) > Math.max(MARKED_FROM * deviation, Math.abs(middle) * MIN_RATIO, 1);
  return new Map(
    measured
      .filter(({ value }) => isMarked(value))
      .map(({ name, value }) => {
        const ratio = middle === 0 ? undefined : value / middle;
        const times =
          ratio === undefined || ratio < 0.1 ? number(middle) : `${number(middle)}, ${formatRatio(ratio)}`;
        return [name, `median ${times}`];
      }),
  );
}

function formatRatio(ratio: number): string {
  return `${ratio.toFixed(1)} times that`;
}

export function computeMedian(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const half = sorted.length >> 1;
  const [low = 0, high = low] = sorted.length % 2 === 1 ? [sorted[half]] : sorted.slice(half - 1, half + 1);
  return (low + high) / 2;
}

/** What became different from one status to the next. @param at RFC 3339 */
export function changesBetween(
  replica: string,
  before: ServerStatus | undefined,
  after: ServerStatus,
  at: string,
): readonly Change[] {
  if (before === undefined) return [];
  const changes: Change[] = [];
  const note = (kind: Change['kind'], sentence: string) => void changes.push({ at, replica, kind, sentence });
  if (before.process !== after.process || before.version !== after.version)
    note('version', `restarted, version ${after.version}`);
  if (before.ready !== after.ready)
    note('ready', after.ready ? 'is ready' : `is not ready: ${after.reason ?? 'no reason given'}`);
  if (before.configuration.changes < after.configuration.changes)
    note('configuration', 'took a new configuration in');
  const rejected = after.configuration.rejected.filter(
    (each) => !before.configuration.rejected.includes(each),
  );
  for (const sentence of rejected) note('configuration', `refused a configuration: ${sentence}`);
  const states = new Map(before.upstreams.map(({ server, state }) => [server, state]));
  for (const { server, state } of after.upstreams) {
    const former = states.get(server);
    if (former !== state)
      note('upstream', `${server} is ${state}${former === undefined ? '' : `, was ${former}`}`);
  }
  for (const { server } of before.upstreams)
    if (!after.upstreams.some((each) => each.server === server))
      note('upstream', `${server} is no longer asked`);
  const kinds = new Map(before.data.kinds.map(({ kind, state }) => [kind, state]));
  for (const { kind, state } of after.data.kinds) {
    const former = kinds.get(kind);
    if (former !== state)
      note('watch', `watch of ${kind}: ${state}${former === undefined ? '' : `, was ${former}`}`);
  }
  return changes;
}

function readyWord(status: ServerStatus | undefined): string {
  if (status === undefined) return NOTHING;
  return status.ready ? 'ready' : 'not ready';
}

function configurationWord(status: ServerStatus | undefined): string {
  if (status === undefined) return NOTHING;
  return status.configuration.isLastGood ? 'refused, former in force' : 'in force';
}

/** How many there are of each kind, the same in all replicas that follow the same cluster. */
function objectWords(kinds: ServerStatus['data']['kinds']): string {
  const words = kinds.map(({ kind, objects }) => `${objects} ${kind}`);
  return words.length === 0 ? NOTHING : words.join(', ');
}

function readerWords(status: ServerStatus | undefined): string {
  if (status === undefined) return NOTHING;
  const { running, down } = status.readers;
  return down === 0 ? `${running} running` : `${running} running, ${down} down`;
}

function zoneWords(zones: ServerStatus['zones']): string {
  const words = zones.map(({ services, digest }) => `${services}, digest ${digest.slice(0, 8)}`);
  return words.length === 0 ? NOTHING : words.join('; ');
}

function upstreamWords(upstreams: readonly UpstreamStatus[]): string {
  const words = upstreams.map(({ server, state, roundTrip }) =>
    roundTrip === undefined ? `${server} ${state}` : `${server} ${state} ${roundTrip.toFixed(1)} ms`,
  );
  return words.length === 0 ? NOTHING : words.join(', ');
}

function milliseconds(value: number | undefined): string {
  return value === undefined ? NOTHING : `${(value / 1_000).toFixed(1)} s`;
}

function number(value: number | undefined): string {
  if (value === undefined) return NOTHING;
  return value < 10 && !Number.isInteger(value) ? value.toFixed(1) : Math.round(value).toString();
}
