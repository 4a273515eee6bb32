/**
 * Finds the reasons of failures that were counted without one.
 */
import { mergeSummaries, type Summary } from '@portolan/server/observe/statistics/space-saving.ts';
import type { StepOutcome } from '@portolan/server/reasons/search-walk.ts';
import { NO_DATA } from './counted-events.ts';
import type { Explainer } from './explain.ts';
import type { CountedQueries } from './top-counts.ts';

const OUTCOMES: ReadonlyMap<string, StepOutcome> = new Map([
  [NO_DATA, 'nodata'],
  ['NXDOMAIN', 'nxdomain'],
  ['REFUSED', 'refused'],
]);

/** Gives each failure the reason that the server would give now. One that resolves by now keeps its response code. */
export async function explainFailures<Counted extends CountedQueries>(
  counted: Counted,
  explainer: Pick<Explainer, 'lookUp'>,
): Promise<Counted> {
  const { rows, unlisted } = counted.summaries.failures;
  const explained: Summary[] = [];
  for (const row of rows) {
    const [cause = '', name = '', type = ''] = row.what.split(' ');
    const reason = await findReason(explainer, cause, name, type);
    explained.push({ rows: [{ ...row, what: `${reason ?? cause} ${name} ${type}` }], unlisted: 0 });
  }
  const { rows: merged } = mergeSummaries(explained, rows.length);
  return { ...counted, summaries: { ...counted.summaries, failures: { rows: merged, unlisted } } };
}

async function findReason(
  explainer: Pick<Explainer, 'lookUp'>,
  cause: string,
  name: string,
  type: string,
): Promise<string | undefined> {
  const rcode = cause === NO_DATA ? 'NOERROR' : cause;
  const seen = { rcode, outcome: OUTCOMES.get(cause) ?? 'servfail' } as const;
  // A name without a presentation format has no explanation.
  const step = await explainer.lookUp(name, type, undefined, seen).catch(() => undefined);
  return step?.reason?.kind;
}
