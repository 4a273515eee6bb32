/**
 * The cost of a query that must go upstream: with each name queried once, with only expired answers, and with names as clients
 * query them, mostly cached.
 */
import { listExpiringNames, listMixedNames, listNewNames } from './outside.ts';
import type { Report } from './report.ts';
import { measureResolvers, type ResolverLoad } from './resolver-costs.ts';
import type { Workplace } from './workplace.ts';

const RATE = 3_000;
/** Below what all of them allow under way at a time. */
const OUTSTANDING = 100;
const MIXED_QUESTIONS = 500_000;

type Names = Pick<ResolverLoad, 'names' | 'mayRepeat' | 'listQuestions'>;

export async function measureForward(workplace: Workplace): Promise<Report> {
  const newNames: Names = {
    names: 'new names',
    mayRepeat: false,
    listQuestions: (turn) => listNewNames(turn, Math.max(workplace.seconds, 3), 'there'),
  };
  const expired: Names = {
    names: 'expired names',
    mayRepeat: true,
    listQuestions: () => listExpiringNames(),
  };
  const mixed: Names = {
    names: 'mixed names',
    mayRepeat: true,
    listQuestions: () => listMixedNames(MIXED_QUESTIONS),
  };
  const reports: Report[] = [];
  for (const names of [newNames, expired, mixed])
    reports.push(
      await measureResolvers(workplace, {
        measurement: 'forward',
        goals: { unbound: 0.5 },
        pacedGoals: { unbound: 0.8 },
        rate: RATE,
        outstanding: OUTSTANDING,
        ...names,
      }),
    );
  return {
    measurement: 'forward',
    tables: reports.flatMap(({ tables }) => tables),
    goals: reports.flatMap(({ goals }) => goals),
    data: reports.map(({ data }) => data),
  };
}
