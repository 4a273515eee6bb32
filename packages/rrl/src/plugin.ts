/**
 * `rrl`: bounds the responses of each kind, and the requests, of a client's network in a second.
 *
 * Source: coredns/rrl.
 */
import { definePlugin, isWithin, type Reply, within } from '@portolan/plugin';
import { Limiter } from './limiter.ts';
import { type RrlOptions, readOptions } from './options.ts';

/** A header of 12 octets: a truncated response without records. */
const TRUNCATED = [0, 0, 0x82, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const RCODE_AT = 3;

export default definePlugin<RrlOptions>({
  api: 1,
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
  parse: readOptions,
  create(options, context) {
    const { zones, intervals, requestInterval, reportsOnly } = options;
    const isLimited = requestInterval > 0 || Object.values(intervals).some((interval) => interval > 0);
    const limiter = new Limiter(options, () => performance.now());
    const requests = context.counter('requests_exceeded_total', 'Counter of requests exceeding QPS limit.');
    const responses = context.counter(
      'responses_exceeded_total',
      'Counter of responses exceeding QPS limit.',
    );
    return {
      questions: within(isLimited ? zones : []),
      async handle(query, next) {
        if (!isLimited || !zones.some((zone) => isWithin(query.name, zone))) return next(query);
        const request = limiter.request(query);
        if (request === 'exceeded' || request === 'slips') {
          requests.add(query);
          if (!reportsOnly) return { kind: 'drop' };
        }
        const reply = await next(query);
        const response = limiter.response(query, reply);
        if (response === 'within' || response === 'no room') return reply;
        responses.add(query);
        if (reportsOnly) return reply;
        return response === 'slips' ? truncated(reply) : { kind: 'drop' };
      },
    };
  },
});

/** Makes a client that is where it says ask again over TCP. */
function truncated(reply: Reply): Reply {
  const wire = Uint8Array.from(TRUNCATED);
  if (reply.kind === 'opaque') wire[RCODE_AT] = reply.rcode & 15;
  return { kind: 'message', wire };
}
