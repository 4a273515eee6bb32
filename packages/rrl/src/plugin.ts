/**
 * `rrl`: bounds the responses of each kind, and the requests, of a client's network in a second.
 *
 * Source: coredns/rrl.
 */
import { COUNTERS, definePlugin, NO_QUESTIONS } from '@portolan/plugin';
import { type RrlOptions, readOptions } from './options.ts';

export default definePlugin({
  name: 'rrl',
  before: 'acl',
  syntax: [
    [
      'rrl [ZONES…] {',
      '    window SECONDS',
      '    ipv4-prefix-length BITS',
      '    ipv6-prefix-length BITS',
      '    responses-per-second NUMBER',
      '    nodata-per-second NUMBER',
      '    nxdomains-per-second NUMBER',
      '    referrals-per-second NUMBER',
      '    errors-per-second NUMBER',
      '    slip-ratio NUMBER',
      '    requests-per-second NUMBER',
      '    max-table-size NUMBER',
      '    report-only',
      '}',
    ].join('\n'),
  ],
  examples: [
    'rrl . {\n  responses-per-second 10\n}',
    'rrl example.org {\n  window 5\n  ipv4-prefix-length 32\n  requests-per-second 100\n  nxdomains-per-second 0.5\n  slip-ratio 2\n}',
    'rrl',
  ],
  read: (cursor, block): RrlOptions => cursor.whole((uses) => readOptions(uses, block)),
  create(
    { zones, prefixLengths, responses, requests, window, slipRatio, maxTableSize, reportsOnly },
    context,
  ) {
    const counters = context.use(COUNTERS);
    const count = (name: string, help: string) => counters.family(name, help).with();
    return {
      handler: {
        name: 'rrl',
        role: 'other',
        questions: NO_QUESTIONS,
        answers: 'unchanged',
        limits: {
          zones,
          prefixLengths,
          requestsPerSecond: requests,
          responsesPerSecond: responses,
          slip: slipRatio,
          window,
          maxCounts: Math.max(1, maxTableSize),
          reportsOnly,
          exceeded: {
            requests: [
              count('coredns_rrl_requests_exceeded_total', 'Counter of requests exceeding QPS limit.'),
            ],
            responses: [
              count('coredns_rrl_responses_exceeded_total', 'Counter of responses exceeding QPS limit.'),
            ],
          },
        },
        handle: (query, next) => next(query),
      },
    };
  },
});
