/**
 * Plugins that forward nothing: they answer with the servers that would be asked.
 */

import { isWithin, ROOT } from '@portolan/dns/name.ts';
import { type AbsoluteName, CLASS, type NameKey, RCODE } from '@portolan/dns/types.ts';
import { formatHost } from '@portolan/kernel/base/socket-address.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { ALL_QUESTIONS, isWithinAny } from '@portolan/kernel/chain/match.ts';
import { findPluginOptions } from '@portolan/kernel/contract/plugin-use.ts';
import type { ForwardPlan, ForwardTarget } from '@portolan/kernel/forward/forward-plan.ts';
import { listMatchPairs, NameRules } from '@portolan/kernel/forward/name-rules.ts';
import { formatUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { mapUses } from '@portolan/kernel/plan/server-blocks-plan.ts';
import type { ForwardOptions, ForwardRoute, ForwardUpstream } from '@portolan/plugins/forward/options.ts';
import { forward } from '@portolan/plugins/forward/plugin.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';

/** The servers for a name; undefined if the plugin passes the name on. */
type FindServers = (key: NameKey) => readonly string[] | undefined;

/** The same plan, whose plugins that forward only say where to. */
export function markForwarding(plan: ServerPlan): ServerPlan {
  const engine = mapUses(plan.engine, (use) => {
    const options = findPluginOptions([use], forward);
    return options === undefined
      ? use
      : { ...use, definition: { name: use.name, create: () => ({ handler: marker(options) }) } };
  });
  return { ...plan, engine };
}

function marker({ routes }: ForwardOptions): Handler {
  const found = routes.map(serversOfRoute);
  return {
    name: 'forward',
    role: 'other',
    questions: ALL_QUESTIONS,
    answers: 'unchanged',
    handle(query, next) {
      const servers = findFirstServers(found, query.key);
      return servers === undefined ? next(query) : answerWith(query.question.name, servers);
    },
  };
}

const MAX_STRING = 255;

function answerWith(name: AbsoluteName, servers: readonly string[]): Answer {
  const text =
    servers.length === 0 ? 'would not be forwarded' : `would be forwarded to ${servers.toSorted().join(' ')}`;
  const octets = Buffer.from(text);
  const strings = Array.from({ length: Math.ceil(octets.length / MAX_STRING) }, (_, index) =>
    octets.subarray(index * MAX_STRING, (index + 1) * MAX_STRING),
  );
  return {
    kind: 'forwarded',
    rcode: RCODE.NOERROR,
    authoritative: false,
    truncated: false,
    authenticData: false,
    answers: [{ name, class: CLASS.IN, ttl: 0, data: { kind: 'TXT', strings } }],
    authorities: [],
    additionals: [],
    memory: undefined,
  };
}

function findFirstServers(routes: readonly FindServers[], key: NameKey): readonly string[] | undefined {
  for (const find of routes) {
    const servers = find(key);
    if (servers !== undefined) return servers;
  }
  return undefined;
}

function serversOfRoute(route: ForwardRoute): FindServers {
  const { plan, sources, from, except } = route;
  if (sources === undefined) return serversOfPlan(plan);
  const servers = sources.upstreams.map(describeUpstream);
  return (key) => (isWithin(key, from) && !isWithinAny(key, new Set(except)) ? servers : undefined);
}

function describeUpstream(upstream: ForwardUpstream): string {
  if (upstream.kind === 'file') return `the servers of ${upstream.path}`;
  const host = upstream.kind === 'name' ? upstream.name : upstream.address;
  return `${upstream.scheme}://${formatHost(host)}:${upstream.port}`;
}

function serversOfPlan({ rules }: ForwardPlan): FindServers {
  const targets = new NameRules<ForwardTarget>(listMatchPairs(rules, ({ target }) => target));
  return (key) => {
    const found = targets.find(key);
    const target = found?.kind === 'default' ? targets.find(ROOT) : found;
    if (target === undefined) return undefined;
    return target.kind === 'servers' ? target.servers.map(({ address }) => formatUpstream(address)) : [];
  };
}
