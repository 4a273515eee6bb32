/**
 * As much of a server as a history reads: one whose upstream servers are in given states.
 */
import type { Forwarder } from '@portolan/kernel/forward/forwarder.ts';
import type { UpstreamState } from '@portolan/kernel/forward/upstream/upstream-state.ts';
import { inspectForwarders } from '@portolan/plugins/forward/inspected-forwarders.ts';
import type { Server } from '@portolan/server/server.ts';

/** Of one forwarder, by upstream server. */
export type UpstreamStates = Readonly<Record<string, UpstreamState['kind']>>;

/** @param read what its forwarders have now */
export function makeUpstreamServer(read: () => readonly UpstreamStates[]): Server {
  return {
    version: 'test',
    findings: { follow: () => () => {} },
    readiness: () => ({ ready: true }),
    kinds: [],
    tap: { followFailures: () => () => {} },
    plan: { engine: { groups: [] } },
    engine: { serverBlocks: { inspect: () => [inspectForwarders(read().map(makeForwarder))] } },
  } as unknown as Server; // No more of it is read.
}

function makeForwarder(states: UpstreamStates): Forwarder {
  const upstreams = Object.entries(states).map(([upstream, kind]) => ({ upstream, state: { kind } }));
  return { statistics: () => ({ upstreams }), switchedOff: [] } as unknown as Forwarder; // Likewise.
}
