/**
 * Settings of the sockets in a plan: rules for clients, and limits of connections.
 */
import type { ServerPlan } from '../config/server/server-plan.ts';
import type { ListenersOptions } from '../listen/listeners.ts';

export function limitsOf(
  listen: ServerPlan['listen'],
): Pick<ListenersOptions, 'clients' | 'tcpLimits' | 'udpCoalesce' | 'startsAllReaders'> {
  if (listen.kind === 'groups') return {};
  if (listen.kind === 'addresses') return { clients: listen.clients, udpCoalesce: listen.udpCoalesce ?? 0 };
  const { maxTcpConnections: connections } = listen;
  // A process that drops root cannot open sockets on these ports later.
  return { startsAllReaders: true, tcpLimits: { connections, connectionsPerClient: connections } };
}

/** The listen addresses of the plan, `address:port` each; empty if they are known only when the server listens. */
export function endpointsOf({ listen }: ServerPlan): readonly string[] {
  switch (listen.kind) {
    case 'addresses':
      return listen.port === 0 ? [] : [listen.addresses].flat().map((address) => `${address}:${listen.port}`);
    case 'groups':
      return listen.groups.flatMap(({ address, port }) => (port === 0 ? [] : [`${address}:${port}`]));
    case 'interfaces':
      return [];
  }
}
