/**
 * The servers that a plugin of others asks. They are closed with the plugin.
 */
import { readFileSync } from 'node:fs';
import type { Query as ShownQuery, Upstream, UpstreamOptions } from '@portolan/plugin';
import type { Clock } from '../../base/clock.ts';
import { describeOtherName, formatSocketAddress } from '../../forward/proxy/network-errors.ts';
import { udpReplyOctets, writeProxyQuery } from '../../forward/proxy/proxy-query.ts';
import { type ProxyProtocol, type ProxyReply, ProxyUpstream } from '../../forward/proxy/proxy-upstream.ts';
import { StreamTransport } from '../../forward/transport/stream-transport.ts';
import type { Transport } from '../../forward/transport/transport.ts';
import { UdpTransport } from '../../forward/transport/udp-transport.ts';
import { parseUpstream, type UpstreamAddress } from '../../forward/upstream-address.ts';
import type { SocketAddress } from '../../socket/addresses.ts';
import { ROOT } from '../../wire/name.ts';
import { showMessage } from './replies.ts';
import { queryOf } from './shown-query.ts';

/** Milliseconds, as `forward` has it. */
const TIMEOUT = 2_000;
const IDLE = 10_000;
const MAX_UDP_REPLY = 4_096;
const NO_EVENTS = { asked() {}, replied() {}, checkFailed() {} };

export class PluginUpstreams {
  readonly #clock: Clock;
  readonly #opened: ProxyUpstream[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws UpstreamAddressError, Error for a name in place of an address or a file that cannot be read */
  open(text: string, options: UpstreamOptions = {}): Upstream {
    const address = parseUpstream(text);
    const { host, port } = address;
    if (host.kind !== 'address') throw new Error(`a server must be an address: ${text}`);
    const peer = { address: host.address, port };
    const server = new ProxyUpstream({
      ...{ peer, transports: openTransports(peer, address, options, this.#clock), clock: this.#clock },
      ...{ readTimeout: options.timeout ?? TIMEOUT, expire: IDLE, events: NO_EVENTS },
      // A plugin decides for itself when to ask a server again.
      ...{ healthCheck: { interval: 1_000, recursionDesired: true, domain: ROOT }, healthProtocol: 'udp' },
    });
    this.#opened.push(server);
    const protocol = options.network === 'tcp' || address.transport === 'tcp' ? 'tcp' : 'udp';
    return {
      name: formatSocketAddress(peer),
      async ask(query) {
        const reply = await askServer(server, query, protocol);
        if (reply.kind === 'failed') throw new Error(reply.reason);
        return showMessage(reply.message);
      },
    };
  }

  stop(): void {
    for (const server of this.#opened) server.close();
  }
}

/** A truncated reply is asked for again over TCP: the plugin reads whole ones. */
async function askServer(
  server: ProxyUpstream,
  shown: ShownQuery,
  protocol: ProxyProtocol,
): Promise<ProxyReply> {
  const { question, header, edns, key, look } = queryOf(shown);
  if (look !== undefined) {
    // An explanation sends nothing.
    look.wouldAsk({ name: key, servers: [formatSocketAddress(server.peer)], problem: undefined });
    return { kind: 'failed', reason: 'not asked' };
  }
  const asked = { question, header, edns };
  const message = writeProxyQuery(asked);
  const octets = udpReplyOctets(asked);
  const reply = await server.ask(message, protocol, octets);
  const isCut = reply.kind === 'reply' && reply.message.header.truncated && protocol === 'udp';
  return isCut ? await server.ask(message, 'tcp', octets) : reply;
}

function openTransports(
  peer: SocketAddress,
  { transport, serverName }: UpstreamAddress,
  { tls }: UpstreamOptions,
  clock: Clock,
): Readonly<Record<ProxyProtocol, Transport>> {
  const sourceAddress = undefined;
  const stream = (tlsPeer: ConstructorParameters<typeof StreamTransport>[0]['tls']) =>
    new StreamTransport({ peer, sourceAddress, idle: IDLE, tls: tlsPeer, clock });
  if (transport === 'tls') {
    const encrypted = stream(readTls(serverName, tls));
    return { udp: encrypted, tcp: encrypted };
  }
  const udp = new UdpTransport({
    ...{ peer, sourceAddress, sourcePorts: { kind: 'any' }, udpSize: MAX_UDP_REPLY },
    ...{ ignoredAddresses: [], mixesCase: false, clock },
  });
  return { udp, tcp: stream(undefined) };
}

function readTls(ofAddress: string | undefined, tls: UpstreamOptions['tls'] = {}) {
  const { serverName = ofAddress, authorities, certificate, key } = tls;
  const read = (path: string) => readFileSync(path, 'utf8');
  return {
    ...{ serverName, describeOtherName },
    authorities: authorities === undefined ? undefined : [read(authorities)],
    own:
      certificate === undefined || key === undefined
        ? undefined
        : { certificate: read(certificate), key: read(key) },
  };
}
