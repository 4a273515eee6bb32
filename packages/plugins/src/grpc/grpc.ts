/**
 * Asks servers by gRPC, one after the other.
 */
import { isWithin } from '@portolan/dns/name.ts';
import { type Message, type NameKey, RCODE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { isWithinAny, namesWithin } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { Plugin } from '@portolan/kernel/contract/plugin.ts';
import { TlsTrustFiles } from '@portolan/kernel/forward/tls-trust-files.ts';
import { writeReceived } from '@portolan/kernel/forward/transport/query-message.ts';
import { passOn } from '../forward/sent-replies.ts';
import { countGrpc, type GrpcCounts } from './grpc-metrics.ts';
import { GrpcServer } from './grpc-server.ts';
import type { GrpcOptions } from './options.ts';
import { ServerOrder } from './server-order.ts';

/** Milliseconds for all servers, as in CoreDNS. */
const DEADLINE = 5000;

export interface GrpcDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MetricRegistry;
  /** Whether no plugin of the block stands behind it. */
  readonly isLast: () => boolean;
  /** Numbers from 0 to below 1. Default: `Math.random`. */
  readonly random?: () => number;
}

type GrpcResult =
  | { readonly kind: 'reply'; readonly message: Message }
  /** No server has replied. `reason`: that of the last one. */
  | { readonly kind: 'failed'; readonly reason: string };

export class Grpc implements Plugin {
  readonly handler: Handler;
  readonly #options: GrpcOptions;
  readonly #dependencies: GrpcDependencies;
  readonly #fallthrough: ReadonlySet<NameKey>;
  readonly #counts: GrpcCounts;
  #order = new ServerOrder<GrpcServer>('sequential', [], Math.random);

  constructor(options: GrpcOptions, dependencies: GrpcDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#fallthrough = new Set(options.fallthrough);
    this.#counts = countGrpc(dependencies.metrics);
    this.handler = {
      name: 'grpc',
      role: 'other',
      questions: namesWithin(new Set([options.from])),
      answers: 'unchanged',
      answersClasses: 'all',
      handle: (query, next) => this.#handle(query, next),
    };
  }

  /** @throws Error if a file of `tls` cannot be read */
  start(): void {
    const { servers, tls, policy } = this.#options;
    const { clock, log, random = Math.random } = this.#dependencies;
    const peer = tls && { trust: new TlsTrustFiles(tls, { clock, log }), serverName: tls.serverName };
    const opened = servers.map((place) => new GrpcServer(place, peer, clock));
    this.#order = new ServerOrder(policy, opened, random);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#order.servers.map((server) => server.stop()));
  }

  async #handle(query: Query, next: Next): Promise<Answer> {
    const { from, except } = this.#options;
    const { key } = query;
    const isExcepted = key !== from && except.some((zone) => isWithin(key, zone));
    if (!isWithin(key, from) || isExcepted) return next(query);
    query.forbidStoring();
    if (query.look !== undefined) {
      const servers = this.#order.servers.map(({ name }) => (name.includes('://') ? name : `grpc://${name}`));
      query.look.wouldAsk({ name: key, servers, problem: undefined });
      return { kind: 'servfail' };
    }
    const result = await this.#ask(query);
    const isMissing = result.kind === 'failed' || result.message.header.rcode === RCODE.NXDOMAIN;
    if (isMissing && isWithinAny(key, this.#fallthrough) && !this.#dependencies.isLast()) return next(query);
    if (result.kind === 'reply') return passOn(query, result.message, true);
    return { kind: 'servfail', reason: result.reason };
  }

  /** Each server gets its share of the time that is left. */
  async #ask(query: Query): Promise<GrpcResult> {
    const { clock } = this.#dependencies;
    const message = writeReceived(query, 'only-tcp');
    const end = clock.monotonic() + DEADLINE;
    let reason = 'no healthy gRPC proxies';
    const servers = this.#order.next();
    for (const [index, server] of servers.entries()) {
      const asked = clock.monotonic();
      if (asked >= end) break;
      try {
        const reply = await server.ask(message, (end - asked) / (servers.length - index));
        this.#counts.replied(server.name, reply, clock.monotonic() - asked);
        return { kind: 'reply', message: reply };
      } catch (error) {
        reason = describeError(error);
      }
    }
    return { kind: 'failed', reason };
  }
}
