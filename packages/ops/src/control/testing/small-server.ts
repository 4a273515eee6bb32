/**
 * As much of a server as a history reads.
 */
import type { Forwarder } from '@portolan/kernel/forward/forwarder.ts';
import type { UpstreamState } from '@portolan/kernel/forward/upstream/upstream-state.ts';
import {
  type InspectedCluster,
  inspectCluster,
} from '@portolan/kubernetes/plugins/kubernetes/inspected-cluster.ts';
import type { Cluster } from '@portolan/kubernetes/publish/cluster.ts';
import { inspectForwarders } from '@portolan/plugins/forward/inspected-forwarders.ts';
import type { FollowedKind } from '@portolan/server/followed-kinds.ts';
import type { Readiness } from '@portolan/server/observe/health.ts';
import type { Finding } from '@portolan/server/reasons/finding.ts';
import type { Server } from '@portolan/server/server.ts';

/** Of one forwarder, by upstream server. */
export type UpstreamStates = Readonly<Record<string, UpstreamState['kind']>>;

/** What a server has now. */
export interface ServerParts {
  readonly upstreams?: readonly UpstreamStates[];
  readonly kinds?: readonly Pick<FollowedKind, 'kind' | 'state' | 'lists' | 'words'>[];
  readonly cluster?: Cluster;
  readonly readiness?: Readiness;
}

export interface SmallServer {
  readonly server: Server;
  /** Tells followers what a check has found. */
  report(findings: readonly Finding[]): void;
}

export function makeServer(read: () => ServerParts): SmallServer {
  const followers = new Set<(findings: readonly Finding[]) => void>();
  const inspect = () => {
    const { upstreams = [], cluster } = read();
    const forwarders = inspectForwarders(upstreams.map(makeForwarder));
    return cluster === undefined ? [forwarders] : [forwarders, inspectCluster(toInspected(cluster))];
  };
  const server = {
    version: 'test',
    findings: {
      follow(follow: (findings: readonly Finding[]) => void) {
        followers.add(follow);
        return () => followers.delete(follow);
      },
    },
    plainReadiness: () => read().readiness ?? { ready: true },
    get kinds() {
      return read().kinds ?? [];
    },
    tap: { followFailures: () => () => {} },
    plan: { engine: { groups: [] } },
    engine: { serverBlocks: { inspect } },
  } as unknown as Server; // No more of it is read.
  return {
    server,
    report(findings) {
      for (const follow of followers) follow(findings);
    },
  };
}

function makeForwarder(states: UpstreamStates): Forwarder {
  const upstreams = Object.entries(states).map(([upstream, kind]) => ({ upstream, state: { kind } }));
  return { statistics: () => ({ upstreams }), switchedOff: [] } as unknown as Forwarder; // Likewise.
}

function toInspected(cluster: Cluster): InspectedCluster {
  const rules = { namespaces: [], ignoresEmptyServices: false, pods: 'disabled' } as const;
  return { cluster, followedBy: 'server', status: undefined, rules };
}
