/**
 * `rrl`: bounds the responses of each kind, and the requests, of a client's network in a second.
 *
 * Source: coredns/rrl.
 */
import {
  type Answer,
  COUNTERS,
  definePlugin,
  EMPTY_ANSWER,
  isWithin,
  namesWithin,
  toWhole,
} from '@portolan/plugin';
import { Limiter } from './limiter.ts';
import { type RrlOptions, readOptions } from './options.ts';

/** As many codes fit into a header. */
const MAX_RCODE = 15;

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
  create(options, context) {
    const { zones, intervals, requestInterval, reportsOnly } = options;
    const isLimited = requestInterval > 0 || Object.values(intervals).some((interval) => interval > 0);
    const limiter = new Limiter(options, () => performance.now());
    const requests = context
      .use(COUNTERS)
      .family('coredns_rrl_requests_exceeded_total', 'Counter of requests exceeding QPS limit.')
      .with();
    const responses = context
      .use(COUNTERS)
      .family('coredns_rrl_responses_exceeded_total', 'Counter of responses exceeding QPS limit.')
      .with();
    return {
      handler: {
        name: 'rrl',
        role: 'other',
        questions: namesWithin(new Set(isLimited ? zones : [])),
        answers: 'unchanged',
        async handle(query, next) {
          if (!isLimited || !zones.some((zone) => isWithin(query.key, zone))) return await next(query);
          // Each query counts, so no reader answers one.
          query.dependOnClient();
          const request = limiter.request(query);
          if (request === 'exceeded' || request === 'slips') {
            query.count(requests);
            if (!reportsOnly) return { kind: 'drop' };
          }
          const answer = await next(query);
          const response = limiter.response(query, answer);
          if (response === 'within' || response === 'no room') return answer;
          query.count(responses);
          if (reportsOnly) return answer;
          return response === 'slips' ? truncate(answer) : { kind: 'drop' };
        },
      },
    };
  },
});

/** Makes a client that is where it says ask again over TCP. */
function truncate(answer: Answer): Answer {
  const rcode = answer.kind === 'drop' ? 0 : toWhole(answer).rcode;
  return { ...EMPTY_ANSWER, truncated: true, rcode: rcode & MAX_RCODE };
}
