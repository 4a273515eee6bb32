/**
 * Questions as a resolver library asks them.
 */
import { listReached, type StepOutcome } from '@portolan/server/reasons/search-walk.ts';
import type { QuestionRow } from '../../control/question-row.ts';
import type { ResolverSettings } from '../look-ups.ts';

/** The search list of a pod in the namespace shop. */
export const SHOP_SEARCH: readonly string[] = [
  'shop.svc.cluster.local',
  'svc.cluster.local',
  'cluster.local',
];

export interface GivenName {
  readonly name: string;
  readonly times: number;
}

export interface AskingProgram extends ResolverSettings {
  readonly given: readonly GivenName[];
  /** By absolute name; all other names do not exist. */
  readonly outcomes: ReadonlyMap<string, StepOutcome>;
  /** Default: 10.244.0.7. */
  readonly client?: string;
}

/** A question for A and one for AAAA of each name that the library gets to; each took a millisecond. */
export function listAskedRows(program: AskingProgram): readonly QuestionRow[] {
  const { given, outcomes, library, client = '10.244.0.7' } = program;
  const findOutcome = (name: string) => outcomes.get(name) ?? 'nxdomain';
  const rows = new Map<string, QuestionRow>();
  for (const { name, times } of given)
    for (const asked of listReached(name, program, library, findOutcome))
      for (const type of ['A', 'AAAA']) {
        const key = `${asked} ${type}`;
        const count = (rows.get(key)?.count ?? 0) + times;
        rows.set(key, {
          client,
          name: asked,
          type,
          outcome: findOutcome(asked),
          count,
          milliseconds: count,
          last: 0,
        });
      }
  return [...rows.values()];
}
