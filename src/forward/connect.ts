/**
 * Creates the transport for an upstream address.
 */
import type { Clock } from '../base/clock.ts';
import type { SocketAddress } from '../socket/addresses.ts';
import { addressOfInterface } from '../socket/query-socket.ts';
import type { ForwardPlan } from './forward-plan.ts';
import { HttpsTransport } from './transport/https-transport.ts';
import { PlainTransport } from './transport/plain-transport.ts';
import { StreamTransport } from './transport/stream-transport.ts';
import type { Transport } from './transport/transport.ts';
import { type SourcePorts, UdpTransport } from './transport/udp-transport.ts';
import type { UpstreamAddress } from './upstream-address.ts';

/** The parts of a plan that a transport needs. */
export type TransportSettings = Pick<
  ForwardPlan,
  'sourcePorts' | 'mixesCase' | 'udpSize' | 'ignoredAddresses' | 'tls'
>;

/** Creates the transport to a server. @param address its address as text, given or resolved */
export type Connect = (
  server: UpstreamAddress,
  address: string,
  settings: TransportSettings,
  clock: Clock,
) => Transport;

export const connectBySockets: Connect = (server, address, settings, clock) => {
  const peer: SocketAddress = { address, port: server.port };
  const sourceAddress = sourceOf(server, address);
  const tls = { serverName: server.serverName, authorities: settings.tls.authorities };
  if (server.transport === 'tls') return new StreamTransport({ peer, sourceAddress, tls, clock });
  if (server.transport === 'https') return new HttpsTransport({ peer, tls, sourceAddress, method: 'POST' });
  const tcp = new StreamTransport({ peer, sourceAddress, tls: undefined, clock });
  if (server.transport === 'tcp') return tcp;
  const port = server.source?.port;
  const sourcePorts: SourcePorts = port === undefined ? settings.sourcePorts : { kind: 'fixed', port };
  const { udpSize, ignoredAddresses, mixesCase } = settings;
  const udp = new UdpTransport({
    ...{ peer, sourceAddress, sourcePorts, udpSize, ignoredAddresses, mixesCase, clock },
  });
  const isAny = sourcePorts.kind === 'any' && server.source === undefined;
  const isDirect = isAny && ignoredAddresses.length === 0 && !mixesCase;
  return new PlainTransport(udp, tcp, clock, isDirect ? peer : undefined);
};

function sourceOf({ source }: UpstreamAddress, peer: string): string | undefined {
  if (source === undefined) return undefined;
  if (source.address !== undefined) return source.address;
  return source.device === undefined ? undefined : addressOfInterface(source.device, peer);
}
