/**
 * What a plan says of its sockets: what clients may do, and how many connections they may have.
 */
import type { ServerPlan } from '../config/server/server-plan.ts';
import type { ListenersOptions } from '../listen/listeners.ts';

export function limitsOf(
  listen: ServerPlan['listen'],
): Pick<ListenersOptions, 'clients' | 'tcpLimits' | 'udpCoalesce' | 'startsAllReaders'> {
  if (listen.kind === 'groups') return {};
  if (listen.kind === 'addresses') return { clients: listen.clients, udpCoalesce: listen.udpCoalesce ?? 0 };
  const { maxTcpConnections: connections } = listen;
  // A process that becomes another user cannot open sockets of the ports later.
  return { startsAllReaders: true, tcpLimits: { connections, connectionsPerClient: connections } };
}

/** Where the plan has the server listen, `address:port` each; nothing where that is not said before it does. */
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
