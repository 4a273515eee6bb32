/**
 * The deviations that a Corefile meets.
 */
import {
  concernsKubeDns,
  DEVIATIONS,
  type Deviation,
  type DeviationId,
  describeDeviation,
  findSwitches,
  type RestoredDeviations,
} from '@portolan/kernel/deviations/table.ts';
import type { CorefileUse } from '../../plugins/registry.ts';
import type { ServerBlock } from './read-corefile.ts';

/** A deviation that answers under a Corefile show, for a survey. */
export interface Difference {
  readonly plugin: string;
  readonly id: DeviationId;
  /** A whole sentence. */
  readonly text: string;
  /** `always`: also with `-compat`. */
  readonly remains: 'without -compat' | 'always';
  /** The value of `-compat` that turns it off; left out: nothing does. */
  readonly compat?: string;
}

/** Those whose test of options a plugin of the block passes: a survey leaves out those without a test. */
export function findDifferences(plugins: readonly CorefileUse[]): readonly Difference[] {
  return plugins.flatMap((use) =>
    DEVIATIONS.filter((row) => row.appliesTo !== undefined && isMetBy(row, use)).map((row) => {
      const [compat] = findSwitches(row);
      const remains = compat === undefined ? 'always' : 'without -compat';
      const text = describeDeviation(row);
      return { plugin: use.name, id: row.id, text, remains, ...(compat !== undefined && { compat }) };
    }),
  );
}

/** A deviation that a Corefile meets, and what becomes of it. */
export interface MetDeviation {
  readonly id: DeviationId;
  /** `restored`: the server does as CoreDNS does. `kept`: it could. `stays`: it cannot. */
  readonly state: 'restored' | 'kept' | 'stays';
  /** A whole sentence: what Portolan does. */
  readonly text: string;
}

const STATES: readonly MetDeviation['state'][] = ['restored', 'kept', 'stays'];

/** Those of the server, and those of the plugins of a Corefile: those that `-compat` decides on come first. */
export function findMetDeviations(
  blocks: readonly ServerBlock[],
  restored: RestoredDeviations,
): readonly MetDeviation[] {
  const uses = blocks.flatMap(({ plugins }) => plugins);
  return DEVIATIONS.filter(
    (row) => !concernsKubeDns(row) && (row.plugins.length === 0 || uses.some((use) => isMetBy(row, use))),
  )
    .map((row) => ({ id: row.id, state: toState(row, restored), text: describeDeviation(row) }))
    .toSorted((one, other) => STATES.indexOf(one.state) - STATES.indexOf(other.state));
}

function toState(row: Deviation, restored: RestoredDeviations): MetDeviation['state'] {
  const switches = findSwitches(row);
  const ids: ReadonlySet<string> = restored;
  if (switches.length === 0) return 'stays';
  return switches.some((id) => ids.has(id)) ? 'restored' : 'kept';
}

function isMetBy(row: Deviation, { name, options }: CorefileUse): boolean {
  if (!row.plugins.includes(name)) return false;
  // `kubernetai` has the options of several clusters.
  const stanzas: readonly object[] = Array.isArray(options) ? options : [options ?? {}];
  return row.appliesTo === undefined || stanzas.some((each) => row.appliesTo?.(each));
}
