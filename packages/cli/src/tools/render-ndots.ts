/**
 * What `portolan ndots` prints for people, and for kustomize.
 */
import { formatDuration, formatElapsed } from '@portolan/kernel/base/duration.ts';
import type { WorkloadProgress } from '@portolan/ops/ndots/compare-reports.ts';
import type { NdotsReport, WorkloadReport } from '@portolan/ops/ndots/report.ts';
import type { Paint } from '@portolan/server/reasons/render-explanation.ts';
import { stringify } from 'yaml';

/** Names of each list of a workload. */
const NAMES = 3;
/** Columns of words; all others are numbers. */
const WORDS: ReadonlySet<number> = new Set([0]);
const GAP = '  ';

/** @param rows workloads at most */
export function renderReport(report: NdotsReport, rows: number, paint: Paint): string {
  const { seconds, servers, questions, lost, searched, saved, workloads } = report;
  const shown = workloads.slice(0, rows);
  const head = [
    `${formatDuration(Math.round(seconds) * 1_000)} of ${formatCount(servers, 'server')}: ${formatCount(questions, 'question')} of ${formatCount(workloads.length, 'workload')}`,
    `${searched} (${formatShare(searched, questions)}) made by search lists`,
    `${saved} (${formatShare(saved, questions)}) can be saved`,
  ];
  const table = [
    ['workload', 'questions', 'searched', 'needed', 'waited', 'ndots', 'saves'],
    ...shown.map(toCells),
  ];
  const lines = [
    head.join(', '),
    ...(lost === 0 ? [] : [`${lost} questions were not seen: there were too many`]),
    '',
    ...formatTable(table).map((line, index) => (index === 0 ? paint('faint', line) : line)),
    ...(shown.length === workloads.length ? [] : [`${workloads.length - shown.length} more: see --rows`]),
    ...shown.flatMap((workload) => renderWorkload(workload, paint)),
  ];
  return `${lines.join('\n')}\n`;
}

function toCells(workload: WorkloadReport): readonly string[] {
  const { questions, searched, needed, waited, ndots, search, change } = workload;
  return [
    describeWorkload(workload),
    String(questions),
    search === undefined ? '?' : String(searched),
    String(needed),
    formatElapsed(waited),
    change === undefined ? String(ndots) : `${ndots} -> ${change.ndots}`,
    change === undefined ? '-' : `${change.saved} (${formatShare(change.saved, questions)})`,
  ];
}

function renderWorkload(workload: WorkloadReport, paint: Paint): readonly string[] {
  const { needs, wasted, change, completeNames, questions, kind } = workload;
  const needed = needs.map(({ name, suffix, lookUps }) => `${name} + ${suffix} (${lookUps})`);
  const lost = wasted.map((each) => `${each.name} (${each.questions})`);
  const complete = completeNames.map((each) => `${each.complete} (saves ${each.saved})`);
  if (change === undefined && complete.length === 0) return [];
  return [
    '',
    change === undefined
      ? `${describeWorkload(workload)}: no lower ndots saves questions without breaking a name`
      : `${describeWorkload(workload)}: ${paint('good', `ndots: ${change.ndots}`)} saves ${change.saved} of ${questions} questions, and breaks no name that was asked for`,
    ...listSome('wasted', lost),
    ...listSome('needs', needed),
    ...listSome('write', complete),
    ...(change === undefined || kind === 'Client' ? [] : [`  do      ${describeChange(change)}`]),
  ];
}

function describeChange({ kubectl, dnsConfig }: NonNullable<WorkloadReport['change']>): string {
  return kubectl ?? `Set dnsConfig in the spec of its pods: ${JSON.stringify(dnsConfig)}`;
}

function listSome(title: string, items: readonly string[]): readonly string[] {
  if (items.length === 0) return [];
  const more = items.length > NAMES ? [`and ${items.length - NAMES} more`] : [];
  return [`  ${title.padEnd(6)}  ${[...items.slice(0, NAMES), ...more].join(GAP)}`];
}

export function renderProgress(progress: readonly WorkloadProgress[], paint: Paint): string {
  if (progress.length === 0) return '\nsince before: no workload asks otherwise\n';
  const rows = progress.map((each) => {
    const { before, now, verdict } = each;
    return [
      describeWorkload(each),
      before.ndots === now.ndots ? String(now.ndots) : `${before.ndots} -> ${now.ndots}`,
      `${before.questionsEach.toFixed(2)} -> ${now.questionsEach.toFixed(2)}`,
      paint(verdict === 'worse' ? 'bad' : 'good', verdict),
    ];
  });
  const [title = '', ...lines] = formatTable([
    ['since before', 'ndots', 'questions for a look-up', ''],
    ...rows,
  ]);
  return `\n${[paint('faint', title), ...lines].join('\n')}\n`;
}

/** The patches for a kustomization.yaml. */
export function renderKustomize({ workloads }: NdotsReport): string {
  return stringify({ patches: workloads.flatMap(({ change }) => change?.kustomize ?? []) });
}

function describeWorkload({
  kind,
  namespace,
  name,
}: Pick<WorkloadReport, 'kind' | 'namespace' | 'name'>): string {
  if (kind === 'Client') return namespace === undefined ? name : `${name} (${namespace})`;
  return `${kind} ${namespace ?? ''}/${name}`;
}

function formatTable(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        WORDS.has(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join(GAP)
      .trimEnd(),
  );
}

function formatCount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function formatShare(part: number, whole: number): string {
  return `${whole === 0 ? 0 : Math.round((part / whole) * 100)} %`;
}
