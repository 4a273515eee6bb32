/**
 * Checks of queries that were watched for some time.
 */
import { describeReason, listRemedies } from '../describe-reason.ts';
import type { Check, Finding, TrafficEvidence } from '../finding.ts';

/** Fewer queries say nothing. */
const MIN_QUERIES = 20;
/** Questions per wanted name from which a search list is a risk. */
const MAX_FACTOR = 2.5;
/** How often a missing service must be asked for. */
const MIN_MISSING = 5;

function ofTraffic(kind: Check['kind'], find: (traffic: TrafficEvidence) => readonly Finding[]): Check {
  return { kind, needs: ['traffic'], find: ({ traffic }) => (traffic === undefined ? [] : find(traffic)) };
}

const noSuchService = ofTraffic('no-such-service', ({ missing, seconds }) =>
  missing
    .filter(({ count }) => count >= MIN_MISSING)
    .map(({ service, namespace, count, near }) => {
      const reason = { kind: 'no-such-service', service, namespace, near } as const;
      return {
        kind: 'no-such-service',
        severity: 'risk',
        subject: `${namespace}/${service}`,
        sentence: `${describeReason(reason)}, asked for ${count} times in ${Math.round(seconds)} s`,
        remedies: listRemedies(reason),
      };
    }),
);

const searchPathAmplification = ofTraffic('search-path-amplification', ({ namespaces }) =>
  Array.from(namespaces)
    .filter(
      ([, { queries, searched }]) => queries >= MIN_QUERIES && computeFactor(queries, searched) >= MAX_FACTOR,
    )
    .map(([namespace, { queries, searched }]) => ({
      kind: 'search-path-amplification',
      severity: 'risk',
      subject: namespace,
      sentence: `pods of namespace ${namespace} ask ${computeFactor(queries, searched).toFixed(1)} questions for each name that they want`,
      remedies: [
        { sentence: 'Write outside names with a final dot, or set ndots: 2 in the dnsConfig of the pods.' },
        { sentence: 'See which value breaks no name of a workload.', command: 'kubectl portolan ndots' },
      ],
    })),
);

function computeFactor(queries: number, searched: number): number {
  return queries / Math.max(1, queries - searched);
}

export const TRAFFIC_CHECKS: readonly Check[] = [noSuchService, searchPathAmplification];
