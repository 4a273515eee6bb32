/**
 * The table of deviations: its rows by the sections of docs/explanation/dialects.md, and their ids as types.
 */
import { CLUSTER_ROWS, KUBE_DNS_ROWS } from './cluster-rows.ts';
import type { DeviationRow, ReaderWork, RestoredDeviation } from './deviation.ts';
import { FORWARD_ROWS } from './forward-rows.ts';
import { LASTING_ROWS } from './lasting-rows.ts';
import { PLUGIN_ROWS } from './plugin-rows.ts';

const ROWS = [...CLUSTER_ROWS, ...KUBE_DNS_ROWS, ...LASTING_ROWS, ...PLUGIN_ROWS, ...FORWARD_ROWS] as const;

export type DeviationId = (typeof ROWS)[number]['id'];

/** The id of a deviation that has a switch of its own. */
export type RestorableId = Exclude<
  Extract<(typeof ROWS)[number], { readonly inCompat: 'restored' }>,
  { readonly with: string }
>['id'];

export type Deviation = DeviationRow & { readonly id: DeviationId };

/** All rows. Where replies show several, the first one says why they differ. */
export const DEVIATIONS: readonly Deviation[] = ROWS;

/** By the anchors of the page, in its order. */
export const DEVIATION_SECTIONS = {
  'against-coredns': CLUSTER_ROWS,
  'against-the-plugins-of-coredns': PLUGIN_ROWS,
  forward: FORWARD_ROWS,
  'without-a-switch': LASTING_ROWS,
  'against-kube-dns': KUBE_DNS_ROWS,
} as const satisfies Readonly<Record<string, readonly Deviation[]>>;

/** The deviations in which a server does as the original does. */
export type RestoredDeviations = ReadonlySet<RestorableId>;

/** A server that deviates wherever Portolan does. */
export const NOTHING_RESTORED: RestoredDeviations = new Set();
export const ALL_RESTORED: RestoredDeviations = new Set(DEVIATIONS.filter(isRestorable).map(({ id }) => id));

/** The page and section with the row of a deviation. */
export function findPage(id: DeviationId): string {
  const [section = ''] =
    Object.entries(DEVIATION_SECTIONS).find(([, rows]) => rows.some((row) => row.id === id)) ?? [];
  return `docs/explanation/dialects.md#${section}`;
}

/** Whether a deviation has a switch of its own. */
export function isRestorable(row: Deviation): row is RestoredDeviation & { readonly id: RestorableId } {
  return row.inCompat === 'restored' && !('with' in row);
}

/** The ids each of which restores a deviation, first its own or that of the one that it goes with; empty: it has no switch. */
export function findSwitches(row: Deviation): readonly string[] {
  if (row.inCompat === 'stays') return [];
  if ('with' in row) return [row.with];
  const leavers = row.byLeaving === true ? (row.leavesToChain ?? []).flatMap(findLeavers) : [];
  return [...new Set([row.id, ...leavers])];
}

/** The ids of the deviations each of which leaves some work of readers to the chain while it is restored. */
export function findLeavers(work: ReaderWork): readonly RestorableId[] {
  return DEVIATIONS.filter(isRestorable)
    .filter(({ leavesToChain = [] }) => leavesToChain.includes(work))
    .map(({ id }) => id);
}

/** Whether a deviation is from kube-dns: a Corefile never meets it. */
export function concernsKubeDns({ id }: Deviation): boolean {
  return KUBE_DNS_ROWS.some((row) => row.id === id);
}

/** Whether readers leave some work to the chain, since they know Portolan's way only. */
export function isLeftToChain(work: ReaderWork, restored: RestoredDeviations): boolean {
  return findLeavers(work).some((id) => restored.has(id));
}

/** What Portolan does there, as a sentence. */
export function describeDeviation({ text, original, portolan }: Deviation): string {
  return text ?? `CoreDNS: ${toPlainText(original)}. Portolan: ${toPlainText(portolan)}.`;
}

function toPlainText(markdown: string): string {
  return markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
}
