/**
 * A resolver with its own table, clock and server, queried through the handlers or by octets.
 */
import { decodeMessage } from '@portolan/dns/message.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { messageFromEntry } from '@portolan/kernel/chain/cached-reply.ts';
import { answerByChain } from '@portolan/kernel/engine/server-blocks/testing/one-block.ts';
import { DEFAULT_FORWARD_PLAN } from '@portolan/kernel/forward/forward-plan.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { CachedResolver, type CachedResolverSettings } from './cached-resolver.ts';
import { inLowerCase, type Reply } from './plain-traffic.ts';
import { RawUpstream } from './raw-upstream.ts';

export const CLIENT = { address: '192.0.2.77', port: 5353, transport: 'udp' } as const;
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Of the time until a question is given up. */
const STEPS = 90;

/** One resolver with its own table, clock and server. */
export class ResolverSide {
  readonly clock = new ManualClock();
  readonly upstream: RawUpstream;
  readonly table = new TableWriter({ readers: 1, reservation: 32 * 2 ** 20, seed: 7 });
  readonly resolver: CachedResolver;
  readonly responses: (Uint8Array | undefined)[] = [];
  readonly slowly;

  constructor(settings: CachedResolverSettings, upstream = new RawUpstream()) {
    this.upstream = upstream;
    this.resolver = new CachedResolver(settings, {
      table: this.table,
      clock: this.clock,
      log: silentLog,
      random: () => 0.5,
      resolveName: () => Promise.reject(new Error('no names here')),
      connect: () => this.upstream,
    });
    this.slowly = answerByChain((query) => this.resolver.answer(query), silentLog);
  }

  askHandlers(packet: Uint8Array, index = this.responses.push(undefined) - 1): void {
    void this.slowly(packet, CLIENT).then((response) => {
      this.responses[index] = response;
    });
  }

  async answer(replies: readonly Reply[]): Promise<void> {
    await settle();
    for (const reply of replies) {
      const query = this.upstream.packets.at(-1);
      if (query !== undefined) this.receive(reply(query));
      await settle();
    }
    for (let step = 0; step < STEPS; step += 1) {
      this.clock.advance(DEFAULT_FORWARD_PLAN.timing.deadline / STEPS);
      this.tick();
      this.clock.advance(0);
    }
    await settle();
  }

  /** The upstream server replies to this one of its queries. */
  hear(packet: Uint8Array, _query: Uint8Array): void {
    this.receive(packet);
  }

  /** Does what the time that has passed makes due. */
  elapse(): void {
    this.tick();
    this.clock.advance(0);
  }

  /** The upstream server replies. */
  protected receive(packet: Uint8Array): void {
    this.upstream.receive(packet);
  }

  /** Time has passed. */
  protected tick(): void {}

  /** What is cached, read back, wherever it lies. */
  cached() {
    return [...this.table.cachedEntries()].map(({ body, ttlOffsets, ...entry }) => {
      const { bytes, rotation, ...rest } = body;
      const run = rotation && { count: rotation.count, stride: rotation.stride };
      const reply = inLowerCase(decodeMessage(messageFromEntry({ ...entry, body, ttlOffsets })));
      return { ...entry, ...rest, run, reply, ttls: ttlOffsets.length };
    });
  }

  stats() {
    const { forward, cache } = this.resolver.stats();
    const { coalesced, refused, droppedRecords, latency, failures } = forward;
    const upstreams = forward.upstreams.map(({ smoothedRoundTrip, ...rest }) => rest);
    return { coalesced, refused, droppedRecords, upstreams, latency, failures, cache };
  }
}
