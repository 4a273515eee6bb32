/**
 * Improves the server blocks of a node cache, whose Corefile is written for CoreDNS: DNS survives an outage of the upstream servers.
 */
import { type CacheServeStale, RFC_8767 } from '@portolan/plugins/cache/options.ts';
import type { ForwardRoute } from '@portolan/plugins/forward/options.ts';
import type { ServerBlock } from '../../coredns/settings/read-corefile.ts';
import type { CorefileUse } from '../../plugins/registry.ts';

/** As RFC 8767 section 5 recommends: query upstreams first, and serve expired answers with a TTL of 30 s. */
const SERVE_STALE: CacheServeStale = { ...RFC_8767, duration: 3_600_000, recheck: 30_000 };
/** Milliseconds. A new connection to the Service address may reach another pod. */
const MAX_AGE = 60_000;
const MIN_CONNECTIONS = 2;

/** Changes only what the blocks leave open: `serve_stale`, `max_age`, and the fallback while TCP fails. */
export function adaptBlocks(blocks: readonly ServerBlock[]): readonly ServerBlock[] {
  return blocks.map(({ keys, plugins }) => {
    const forwards = plugins.some(({ name }) => name === 'forward');
    return { keys, plugins: forwards ? plugins.map(adaptPlugin) : plugins };
  });
}

function adaptPlugin(use: CorefileUse): CorefileUse {
  switch (use.name) {
    case 'cache': {
      const { serveStale = SERVE_STALE } = use.options;
      return { ...use, options: { ...use.options, serveStale } };
    }
    case 'forward':
      return { ...use, options: { routes: use.options.routes.map(adaptRoute) } };
    default:
      return use;
  }
}

function adaptRoute(route: ForwardRoute): ForwardRoute {
  if (route.sources?.forceTcp !== true) return route;
  const { plan } = route;
  const { idle = 0, maxAge: given = 0 } = plan.streams ?? {};
  const maxAge = given === 0 ? Math.max(MAX_AGE, idle) : given;
  const streams = { ...plan.streams, maxAge, minConnections: MIN_CONNECTIONS };
  return { ...route, plan: { ...plan, streams, fallsBackToUdp: true } };
}
