/**
 * What a query costs that must go upstream: every name is asked for once.
 */
import { listNewNames } from './outside.ts';
import type { Report } from './report.ts';
import { measureResolvers } from './resolver-costs.ts';
import type { Workplace } from './workplace.ts';

const RATE = 3_000;
/** Below what all of them allow under way at a time. */
const OUTSTANDING = 100;

export function measureForward(workplace: Workplace): Promise<Report> {
  return measureResolvers(workplace, {
    measurement: 'forward',
    goals: { unbound: 0.6 },
    rate: RATE,
    outstanding: OUTSTANDING,
    mayRepeat: false,
    listQuestions: (turn) => listNewNames(turn, Math.max(workplace.seconds, 3), 'there'),
  });
}
