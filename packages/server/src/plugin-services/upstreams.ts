/**
 * The servers that a plugin asks. They are closed with the plugin.
 */

import type { Message } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { formatSocketAddress } from '@portolan/kernel/base/socket-address.ts';
import { Query } from '@portolan/kernel/chain/query.ts';
import { messageToAnswer } from '@portolan/kernel/chain/whole-answer.ts';
import {
  MAX_SEPARATE,
  NEVER_DOWN,
  profileOfCoreDns,
  TRANSPORT_OF_COREDNS,
} from '@portolan/kernel/forward/coredns-profile.ts';
import {
  DEFAULT_FORWARD_PLAN,
  defaultRule,
  type ForwardPlan,
} from '@portolan/kernel/forward/forward-plan.ts';
import { Forwarder } from '@portolan/kernel/forward/forwarder.ts';
import { describeFailure, findLocalAddress } from '@portolan/kernel/forward/network-errors.ts';
import { TlsTrustFiles, type TlsTrustFilesOptions } from '@portolan/kernel/forward/tls-trust-files.ts';
import { writeReceived } from '@portolan/kernel/forward/transport/query-message.ts';
import {
  isEncrypted,
  parseUpstream,
  type UpstreamAddress,
} from '@portolan/kernel/forward/upstream-address.ts';
import type { SocketAddress } from '@portolan/kernel/socket/addresses.ts';
import type { Query as PluginQuery, Upstream, UpstreamOptions, Upstreams } from '@portolan/plugin';

/** Milliseconds, as `forward` has it. */
const TIMEOUT = 2_000;

export interface PluginUpstreamsOptions {
  readonly clock: Clock;
  readonly log: Log;
}

export class PluginUpstreams implements Upstreams {
  readonly #options: PluginUpstreamsOptions;
  readonly #opened: Forwarder[] = [];
  #isStopped = false;

  constructor(options: PluginUpstreamsOptions) {
    this.#options = options;
  }

  /**
   * @throws UpstreamAddressError, Error for a name in place of an address or a file that cannot be read, or because the plugin has stopped
   */
  open(text: string, options: UpstreamOptions = {}): Upstream {
    if (this.#isStopped) throw new Error(`the plugin has stopped, and opens no server: ${text}`);
    const { tls } = options;
    const named = parseUpstream(text);
    const { host, port } = named;
    if (host.kind !== 'address') throw new Error(`a server must be an address: ${text}`);
    const peer = { address: host.address, port };
    const { clock, log } = this.#options;
    const address = { ...named, serverName: tls?.serverName ?? named.serverName };
    const forwarder = new Forwarder(toForwardPlan(address, options, this.#options), {
      clock,
      log,
      resolveName: () => Promise.reject(new Error('the server has an address')),
    });
    this.#opened.push(forwarder);
    const isTcp = options.network === 'tcp' || address.transport !== 'udp';
    return {
      name: formatSocketAddress(peer),
      ask: async (query) => messageToAnswer(await askServer(forwarder, peer, query, isTcp)),
    };
  }

  stop(): void {
    this.#isStopped = true;
    for (const forwarder of this.#opened) forwarder.stop();
  }
}

/** A plugin decides for itself when to ask a server again. */
function toForwardPlan(
  address: UpstreamAddress,
  { timeout: readTimeout = TIMEOUT, tls = {} }: UpstreamOptions,
  dependencies: TlsTrustFilesOptions,
): ForwardPlan {
  return {
    ...DEFAULT_FORWARD_PLAN,
    ...TRANSPORT_OF_COREDNS,
    ...profileOfCoreDns({ readTimeout, attempts: 1, health: NEVER_DOWN, failsFast: false }),
    rules: [defaultRule([address])],
    tryNextOn: [],
    merges: false,
    loopDetection: false,
    trustsAd: true,
    ...(isEncrypted(address) && { tls: new TlsTrustFiles(tls, dependencies) }),
    limits: { inFlight: MAX_SEPARATE, perClient: MAX_SEPARATE, queued: 0, queueDeadline: 0 },
  };
}

/** Over UDP, a truncated reply is asked for again over TCP: the plugin reads whole ones. */
async function askServer(
  forwarder: Forwarder,
  peer: SocketAddress,
  query: PluginQuery,
  isTcp: boolean,
): Promise<Message> {
  if (!(query instanceof Query)) throw new TypeError('a query that the host did not make');
  query.forbidStoring();
  if (query.look !== undefined) {
    // An explanation sends nothing.
    const servers = [formatSocketAddress(peer)];
    query.look.wouldAsk({ name: query.key, servers, problem: undefined });
    throw new Error('not asked');
  }
  const asReceived = writeReceived(query, isTcp ? 'only-tcp' : undefined);
  const question = { ...query.questionKey, name: query.question.name, asReceived };
  const reply = await forwarder.resolve(question, { address: query.account });
  if (reply.kind === 'reply') return reply.message;
  const { detail } = reply;
  const code = reply.reason === 'timeout' ? 'timeout' : detail.slice(detail.lastIndexOf(': ') + 2);
  const local = await findLocalAddress(peer);
  throw new Error(describeFailure({ protocol: isTcp ? 'tcp' : 'udp', peer, local, code }));
}
