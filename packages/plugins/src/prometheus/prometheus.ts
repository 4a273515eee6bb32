/**
 * Counts the queries of a server block.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { describeResponse, findRcode } from '@portolan/kernel/chain/described-response.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { NO_QUESTIONS } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { QueryMetrics } from '@portolan/kernel/chain/query-metrics.ts';

export interface PrometheusDependencies {
  readonly metrics: MetricRegistry;
  readonly clock: Clock;
  /** The plugin that a response counts for. */
  readonly findCountedPlugin: (query: Query) => string;
  /** The size of a query in metrics, in octets. */
  readonly computeQuerySize: (query: Query) => number;
  /** Whether questions that plugins ask for a client's query count too, as in CoreDNS. */
  readonly countsFurther: boolean;
}

export function createPrometheusHandler({
  metrics,
  clock,
  findCountedPlugin,
  computeQuerySize,
  countsFurther,
}: PrometheusDependencies): Handler {
  const queries = new QueryMetrics(metrics);
  return {
    name: 'prometheus',
    isObserver: true,
    countsQueries: true,
    role: 'other',
    questions: NO_QUESTIONS,
    answers: 'unchanged',
    handle: async (query, next) => {
      if (query.depth > 0) {
        if (!countsFurther) return await next(query);
        // Readers that repeat the answer would not count it.
        query.forbidStoring();
      }
      const began = clock.monotonic();
      const { site, question, edns } = query;
      const answer = await next(query);
      const response = describeResponse(query, answer);
      queries.count({
        site: { ...site, octets: computeQuerySize(query) },
        client: query.sender,
        type: question.type,
        edns,
        rcode: findRcode(answer) ?? 0,
        responseSize: response?.size ?? 0,
        plugin: response === undefined ? '' : findCountedPlugin(query),
        seconds: (clock.monotonic() - began) / 1000,
      });
      return answer;
    },
  };
}
