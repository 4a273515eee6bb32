/**
 * Creates the transport to an upstream server, from its address and the terms of its plan.
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';
import type { Clock } from '../base/clock.ts';
import type { SocketAddress } from '../socket/addresses.ts';
import { addressOfInterface } from '../socket/query-socket.ts';
import { Do53Transport } from './transport/do53-transport.ts';
import { makeHttpsRequest } from './transport/https-request.ts';
import { HTTPS_PROTOCOLS, RequestTransport } from './transport/request-transport.ts';
import { StreamTransport } from './transport/stream-transport.ts';
import { TcpFirstTransport } from './transport/tcp-first-transport.ts';
import { type TlsTrust, toConnectOptions } from './transport/tls-socket.ts';
import type { StreamTerms, Transport, TransportProtocol } from './transport/transport.ts';
import { type SourcePorts, UdpTransport } from './transport/udp-transport.ts';
import type { UpstreamAddress } from './upstream-address.ts';

/** How servers are reached. */
export interface TransportTerms {
  readonly sourcePorts: SourcePorts;
  /** Whether to send names in random case (0x20) to servers that preserve it. */
  readonly mixesCase: boolean;
  /** The UDP size in our queries, 512 to 65535 octets. */
  readonly udpSize: number;
  /** Octets of the largest reply over UDP that counts as whole. Default: `udpSize`. */
  readonly maxUdpReply?: number;
  /** UDP replies with one of these addresses are ignored: a forger on the path sends them, and the true reply follows. */
  readonly ignoredAddresses: readonly AddressRange[];
  /** How connections are kept. Defaults: those of `StreamTransport`. */
  readonly streams?: Partial<StreamTerms>;
  /** Whether servers of `tcp` are asked over UDP while TCP does not work. Default: never. */
  readonly fallsBackToUdp?: boolean;
  readonly tls: TlsTrust;
  /** The method of queries over HTTPS. Default: POST. */
  readonly httpsMethod?: 'POST' | 'GET';
}

/** Creates the transport to a server. @param address its address as text, given or resolved */
export type Connect = (
  server: UpstreamAddress,
  address: string,
  terms: TransportTerms,
  clock: Clock,
) => Transport;

export interface TransportEvents {
  /** Wraps what carries queries over one protocol, to count or show them. Encrypted transports count as TCP. */
  wrap(transport: Transport, protocol: TransportProtocol): Transport;
  /** Queries switch to the other protocol, if the terms say `fallsBackToUdp`. */
  onSwitch(protocol: TransportProtocol): void;
}

const NO_EVENTS: TransportEvents = { wrap: (transport) => transport, onSwitch() {} };

export function connectBySockets(
  server: UpstreamAddress,
  address: string,
  terms: TransportTerms,
  clock: Clock,
  events = NO_EVENTS,
): Transport {
  const { transport, port, serverName } = server;
  const common = { peer: { address, port }, sourceAddress: findSourceAddress(server, address) };
  const tls = { trust: terms.tls, serverName };
  if (transport === 'https') {
    const { httpsMethod = 'POST' } = terms;
    const https = new RequestTransport({
      place: toConnectOptions(common),
      tls,
      protocols: HTTPS_PROTOCOLS,
      makeRequest: (host, octets) => makeHttpsRequest(httpsMethod, host, octets),
      clock,
    });
    return events.wrap(https, 'tcp');
  }
  const ofStream = { ...common, ...terms.streams, tls: transport === 'tls' ? tls : undefined, clock };
  const stream = events.wrap(new StreamTransport(ofStream), 'tcp');
  const isOfStreams = transport === 'tls' || (transport === 'tcp' && terms.fallsBackToUdp !== true);
  if (isOfStreams) return stream;
  const udp = events.wrap(openUdp(server, common, terms, clock), 'udp');
  if (transport === 'udp') return new Do53Transport(udp, stream, clock);
  return new TcpFirstTransport({ tcp: stream, udp, clock, onSwitch: events.onSwitch });
}

function openUdp(
  { source }: UpstreamAddress,
  common: { readonly peer: SocketAddress; readonly sourceAddress: string | undefined },
  { sourcePorts, mixesCase, udpSize, maxUdpReply = udpSize, ignoredAddresses }: TransportTerms,
  clock: Clock,
): Transport {
  return new UdpTransport({
    ...common,
    ignoredAddresses,
    mixesCase,
    clock,
    maxReply: maxUdpReply,
    sourcePorts: source?.port === undefined ? sourcePorts : { kind: 'fixed', port: source.port },
  });
}

function findSourceAddress({ source }: UpstreamAddress, peer: string): string | undefined {
  if (source === undefined) return undefined;
  if (source.address !== undefined) return source.address;
  return source.device === undefined ? undefined : addressOfInterface(source.device, peer);
}
