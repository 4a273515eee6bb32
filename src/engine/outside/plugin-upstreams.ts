/**
 * The servers that a plugin of others asks. They are closed with the plugin.
 */
import type { Query as ShownQuery, Upstream, UpstreamOptions } from '@portolan/plugin';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { MAX_SEPARATE, NEVER_DOWN, profileOfCoreDns } from '../../forward/coredns-profile.ts';
import { DEFAULT_FORWARD_PLAN, defaultRule, type ForwardPlan } from '../../forward/forward-plan.ts';
import { Forwarder } from '../../forward/forwarder.ts';
import { describeFailure, findLocalAddress, formatSocketAddress } from '../../forward/network-errors.ts';
import { readTlsPeer } from '../../forward/read-tls-peer.ts';
import { HttpsTransport } from '../../forward/transport/https-transport.ts';
import { PlainTransport } from '../../forward/transport/plain-transport.ts';
import { writeReceived } from '../../forward/transport/query-message.ts';
import { StreamTransport, type TlsPeer } from '../../forward/transport/stream-transport.ts';
import type { Transport } from '../../forward/transport/transport.ts';
import { UdpTransport } from '../../forward/transport/udp-transport.ts';
import { parseUpstream, type UpstreamAddress } from '../../forward/upstream-address.ts';
import type { SocketAddress } from '../../socket/addresses.ts';
import type { Message } from '../../wire/types.ts';
import { showMessage } from './replies.ts';
import { queryOf } from './shown-query.ts';

/** Milliseconds, as `forward` has it. */
const TIMEOUT = 2_000;
const IDLE = 10_000;
const MAX_UDP_REPLY = 4_096;

export interface PluginUpstreamsOptions {
  readonly clock: Clock;
  readonly log: Log;
}

export class PluginUpstreams {
  readonly #options: PluginUpstreamsOptions;
  readonly #opened: Forwarder[] = [];

  constructor(options: PluginUpstreamsOptions) {
    this.#options = options;
  }

  /** @throws UpstreamAddressError, Error for a name in place of an address or a file that cannot be read */
  open(text: string, options: UpstreamOptions = {}): Upstream {
    const address = parseUpstream(text);
    const { host, port } = address;
    if (host.kind !== 'address') throw new Error(`a server must be an address: ${text}`);
    const peer = { address: host.address, port };
    const { clock, log } = this.#options;
    const transport = openTransport(peer, address, options, clock);
    const forwarder = new Forwarder(planOf(address, options), {
      ...{ clock, log, connect: () => transport },
      resolveName: () => Promise.reject(new Error('the server has an address')),
    });
    this.#opened.push(forwarder);
    const isTcp = options.network === 'tcp' || address.transport !== 'udp';
    return {
      name: formatSocketAddress(peer),
      ask: async (query) => showMessage(await askServer(forwarder, peer, query, isTcp)),
    };
  }

  stop(): void {
    for (const forwarder of this.#opened) forwarder.stop();
  }
}

/** A plugin decides for itself when to ask a server again. */
function planOf(address: UpstreamAddress, { timeout: readTimeout = TIMEOUT }: UpstreamOptions): ForwardPlan {
  return {
    ...DEFAULT_FORWARD_PLAN,
    ...profileOfCoreDns({ readTimeout, attempts: 1, health: NEVER_DOWN, failsFast: false }),
    ...{
      rules: [defaultRule([address])],
      tryNextOn: [],
      merges: false,
      loopDetection: false,
      trustsAd: true,
    },
    limits: { inFlight: MAX_SEPARATE, perClient: MAX_SEPARATE, queued: 0, queueDeadline: 0 },
  };
}

/** Over UDP, a truncated reply is asked for again over TCP: the plugin reads whole ones. */
async function askServer(
  forwarder: Forwarder,
  peer: SocketAddress,
  shown: ShownQuery,
  isTcp: boolean,
): Promise<Message> {
  const query = queryOf(shown);
  if (query.look !== undefined) {
    // An explanation sends nothing.
    const servers = [formatSocketAddress(peer)];
    query.look.wouldAsk({ name: query.key, servers, problem: undefined });
    throw new Error('not asked');
  }
  const asReceived = writeReceived(query, isTcp ? 'only-tcp' : undefined, true);
  const question = { ...query.questionKey, name: query.question.name, asReceived };
  const reply = await forwarder.resolve(question, { address: query.account });
  if (reply.kind === 'reply') return reply.message;
  const { detail } = reply;
  const code = reply.reason === 'timeout' ? 'timeout' : detail.slice(detail.lastIndexOf(': ') + 2);
  const local = await findLocalAddress(peer);
  throw new Error(describeFailure({ protocol: isTcp ? 'tcp' : 'udp', peer, local, code }));
}

function openTransport(
  peer: SocketAddress,
  { transport, serverName }: UpstreamAddress,
  { tls }: UpstreamOptions,
  clock: Clock,
): Transport {
  const sourceAddress = undefined;
  const stream = (tlsPeer: TlsPeer | undefined) =>
    new StreamTransport({ peer, sourceAddress, idle: IDLE, tls: tlsPeer, clock });
  const readTls = () => readTlsPeer(tls?.serverName ?? serverName, tls ?? {});
  if (transport === 'https') return new HttpsTransport({ peer, tls: readTls(), method: 'POST' });
  if (transport === 'tls') return stream(readTls());
  const udp = new UdpTransport({
    ...{ peer, sourceAddress, sourcePorts: { kind: 'any' }, udpSize: MAX_UDP_REPLY },
    ...{ ignoredAddresses: [], mixesCase: false, clock },
  });
  return new PlainTransport(udp, stream(undefined), clock);
}
