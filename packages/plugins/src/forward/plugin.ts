/**
 * `forward`: questions that go to other servers.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { DirectiveContext } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseZones } from '@portolan/corefile/keys/zone-name.ts';
import { ROOT } from '@portolan/dns/name.ts';
import { formatGoDuration } from '@portolan/kernel/base/duration.ts';
import { ofKind } from '@portolan/kernel/contract/plugin.ts';
import { ANSWER_TABLE, BLOCK, FORWARDING, PLAN } from '@portolan/kernel/contract/services.ts';
import { Cache } from '../cache/cache.ts';
import { Dnstap } from '../dnstap/dnstap.ts';
import { compileDirective, type ForwardDirective } from './directive.ts';
import { Forward } from './forward.ts';
import { createNameResolver } from './name-resolver.ts';
import type { TapServer } from './open-upstreams.ts';
import type { ForwardOptions, ForwardRoute, ForwardTls, ForwardUpstream } from './options.ts';
import { readForwardProperties } from './read-properties.ts';
import { readUpstreams } from './read-upstreams.ts';

const MAX_UPSTREAMS = 15;
const NO_TLS: ForwardTls = {
  certificate: undefined,
  key: undefined,
  authorities: undefined,
  serverName: undefined,
};

/** Source: plugin/forward of CoreDNS 1.14.7. */
export const forward = definePlugin({
  name: 'forward',
  answers: true,
  syntax: [
    'forward FROM TO… {',
    '    except ZONES…',
    '    force_tcp',
    '    prefer_udp',
    '    expire DURATION',
    '    max_age DURATION',
    '    max_idle_conns NUMBER',
    '    read_timeout DURATION',
    '    max_fails NUMBER',
    '    max_connect_attempts NUMBER',
    '    tls [CERTIFICATE KEY] [AUTHORITIES]',
    '    tls_servername NAME',
    '    policy random|round_robin|sequential',
    '    health_check DURATION [no_rec] [domain NAME]',
    '    max_concurrent NUMBER',
    '    next RCODE…',
    '    next_on_nodata',
    '    failover RCODE…',
    '    failfast_all_unhealthy_upstreams',
    '    doh_method POST|GET',
    '    source_address ADDRESS',
    '    resolver ADDRESS…',
    '}',
  ],
  read(cursor, context): ForwardOptions {
    const routes: ForwardRoute[] = [];
    cursor.eachUse(() => {
      routes.push(compileDirective(readDirective(cursor, context)));
    });
    return { routes };
  },
  // Servers keep their connections and their state.
  outlivesPlans: () => true,
  create(options: ForwardOptions, context, former) {
    const dnstap = context.find(Dnstap);
    const { connectUpstream, ...forwarding } = context.use(FORWARDING);
    const { restored, listensAt } = context.use(PLAN);
    const { handlers } = context.use(BLOCK);
    const dependencies = {
      ...context,
      ...forwarding,
      restored,
      table: context.use(ANSWER_TABLE),
      cache: context.find(Cache)?.own,
      replies: () => handlers().find(({ replies }) => replies !== undefined)?.replies,
      resolveName: createNameResolver(() => context.chain),
      connect: connectUpstream,
      ...(!restored.has('forward-to-itself') && { isOurselves: listensAt }),
      tap: dnstap && ((...server: Parameters<TapServer>) => dnstap.tapServer(...server)),
    };
    return new Forward(options, dependencies, ofKind(Forward, former));
  },
});

function readDirective(cursor: DirectiveCursor, context: DirectiveContext): ForwardDirective {
  const source = cursor.requiredArgument();
  const zones = parseZones([source]);
  const [from] = zones;
  if (from === undefined)
    throw cursor.bareError(`unable to normalize '${source}'`, 'Name a zone, or a dot for all names.');
  if (zones.length > 1)
    cursor.warn(
      `Write a forward for each of ${zones.join(', ')}.`,
      `Unsupported CIDR notation: '${source}' expands to multiple zones. Using only '${from}'`,
    );
  const words = cursor.remainingArguments();
  if (words.length === 0)
    throw cursor.argumentError('Name the servers to ask, or a file such as /etc/resolv.conf.');
  const draft = { ...DEFAULTS, from, upstreams: [] as readonly ForwardUpstream[] };
  readForwardProperties(cursor, context, draft);
  if (draft.maxAge > 0 && draft.maxAge < draft.expire)
    throw cursor.bareError(
      `max_age (${formatGoDuration(draft.maxAge)}) must not be less than expire (${formatGoDuration(draft.expire)})`,
      'Raise max_age, or lower expire.',
    );
  if (words.length > MAX_UPSTREAMS)
    throw cursor.bareError(
      `more than ${MAX_UPSTREAMS} TOs configured: ${words.length}`,
      'Take some servers out.',
    );
  draft.upstreams = readUpstreams(words, draft.tls.serverName, cursor, context);
  return draft;
}

const DEFAULTS: Omit<ForwardDirective, 'from' | 'upstreams'> = {
  except: [],
  forceTcp: false,
  preferUdp: false,
  expire: 10_000,
  maxAge: 0,
  maxIdleConnections: 0,
  readTimeout: 2000,
  maxFails: 2,
  maxConnectAttempts: undefined,
  tls: NO_TLS,
  policy: 'random',
  healthCheck: { interval: 500, recursionDesired: true, domain: ROOT },
  maxConcurrent: 0,
  nextRcodes: [],
  nextOnNoData: false,
  failoverRcodes: [],
  failsFast: false,
  dohMethod: 'POST',
  sourceAddress: undefined,
  resolvers: [],
};
