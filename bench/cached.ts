/**
 * The cost of a query whose answer is in a resolver's cache.
 */
import { listKnownNames } from './outside.ts';
import { createRandom, pick } from './random.ts';
import type { Report } from './report.ts';
import { measureResolvers } from './resolver-costs.ts';
import type { Workplace } from './workplace.ts';

const RATE = 10_000;
/** What fits into a socket's buffer as the kernel gives it: more of them get lost at once, and then no server is loaded. */
const OUTSTANDING = 200;
/** With two types each they fit into the cache of dnsmasq, which has room for 10,000. */
const NAMES = 2_000;
const QUESTIONS = 40_000;
const SEED = 53;

export function measureCached(workplace: Workplace): Promise<Report> {
  const known = listKnownNames(NAMES);
  const random = createRandom(SEED);
  // Each once, so that one pass fills the caches; then as they come.
  const more = Array.from({ length: QUESTIONS - known.length }, () => pick(random, known));
  return measureResolvers(workplace, {
    measurement: 'cached',
    goals: { dnsmasq: 0.6, unbound: 0.8 },
    rate: RATE,
    outstanding: OUTSTANDING,
    mayRepeat: true,
    listQuestions: () => [...known, ...more],
  });
}
