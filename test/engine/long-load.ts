/**
 * Ten minutes of virtual time under mixed load: local and outside names, an upstream server that is silent for a while, changes,
 * and another process that takes over.
 */
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseType } from '@portolan/dns/mnemonics.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { CLASS, type Message, type NameKey } from '@portolan/dns/types.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import { Engine, type EngineDependencies } from '@portolan/kernel/engine/engine.ts';
import { DEFAULT_FORWARD_PLAN, defaultRule } from '@portolan/kernel/forward/forward-plan.ts';
import { parseUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import { encodeSocketAddress } from '@portolan/kernel/socket/addresses.ts';
import { VERDICT } from '@portolan/kernel/table/types.ts';
import { RFC_8767 } from '@portolan/plugins/cache/options.ts';
import { cache as cachePlugin } from '@portolan/plugins/cache/plugin.ts';
import { planRoute } from '@portolan/plugins/forward/options.ts';
import { forward as forwardPlugin } from '@portolan/plugins/forward/plugin.ts';
import { withOptions } from '@portolan/server/plan/testing/with-options.ts';
import { expect, onTestFinished } from 'vitest';
import { isUpstreams, YesUpstream } from './yes-upstream.ts';
import '../support/load-all-plugins.ts';

export interface LoadSettings {
  readonly plan: EnginePlan;
  readonly dependencies?: Partial<EngineDependencies>;
  /** Whether a name is ours at the moment. */
  readonly isOurs: (name: NameKey) => boolean;
  /** `NAME TYPE`; among them names that become ours on the way. */
  readonly questions: readonly string[];
  /** Gives a new engine what its sources know. */
  readonly fill?: (engine: Engine) => void | Promise<void>;
  /** What happens on the way, by the second. */
  readonly changes?: Readonly<Record<number, (engine: Engine) => void | Promise<void>>>;
  readonly clock?: ManualClock;
  /** The upstream servers that the plan names at ports of loopback. Default: one on virtual time. */
  readonly upstreams?: readonly YesUpstream[];
}

const SECONDS = 600;
const STEP = 1000;
const SILENCE = { from: 200, until: 320 };
const TAKEOVER = 400;
/** Where the socket address of the client lies. */
const AT = 8192;
const CLIENT = { address: '127.0.0.1', port: 5353 };
const OTHERS = ['www.example.net. A', 'www.example.net. AAAA', 'mail.example.net. MX', 'once.example.net. A'];
const OTHER = toKey(parseName('www.example.net.'));

/** The plan with the resolver's prefetching and stale answers on, whatever its front end says of them. */
export function withRefreshing(plan: EnginePlan): EnginePlan {
  const forward = {
    ...DEFAULT_FORWARD_PLAN,
    loopDetection: false,
    rules: [defaultRule([parseUpstream('192.0.2.53')])],
  };
  const forwarding = withOptions(plan, forwardPlugin, (options) =>
    options.routes.some(({ sources }) => sources !== undefined)
      ? options
      : { routes: [planRoute(forward, new Set())] },
  );
  return withOptions(forwarding, cachePlugin, (rules) => ({
    ...rules,
    refreshesUsed: true,
    serveStale: RFC_8767,
  }));
}

class LoadedServer {
  readonly engine: Engine;
  readonly #clock: ManualClock;
  #isStopped = false;

  constructor(engine: Engine, clock: ManualClock) {
    this.engine = engine;
    this.#clock = clock;
  }

  stop(): void {
    if (!this.#isStopped) this.engine.stop();
    this.#isStopped = true;
  }

  /** Answers that were fetched again before they expired. */
  get prefetched(): number {
    return this.engine.count().cache?.prefetched ?? 0;
  }

  /** As a reader does, then the chain. @param told receives the response, and whether a reader gave it */
  async ask(packet: Uint8Array, told: (response: Message, byReader: boolean) => void): Promise<void> {
    const { engine } = this;
    const [group, server] = this.#listenerGroup();
    const octets = new Uint8Array(AT + 32);
    octets.set(packet);
    octets.set(encodeSocketAddress(CLIENT), AT);
    engine.reader.setTime(this.#clock.monotonic());
    const end = engine.reader.answer(octets, 0, packet.length, 4096, 'udp', group, AT);
    if (end !== VERDICT.ASK) {
      told(decodeMessage(octets.slice(0, end)), true);
      return;
    }
    const client = { ...CLIENT, transport: 'udp' } as const;
    const response = await (server === undefined
      ? engine.handleQuery(packet, client)
      : engine.serverBlocks.findQueryHandler(server)?.(packet, client));
    if (response !== undefined) told(decodeMessage(response), false);
  }

  /** Of a Corefile the first; all others have the one of number 0. */
  #listenerGroup(): readonly [number, string | undefined] {
    const { engine } = this;
    const server = 'dns://:53';
    if (engine.serverBlocks.findQueryHandler(server) === undefined) return [0, undefined];
    return [engine.getListenerGroupNumber(server), server];
  }
}

const settle = async () => {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

function makeNamedPacket(question: string): { readonly name: NameKey; readonly packet: Uint8Array } {
  const [name = '', type = ''] = question.split(' ');
  const asked = { name: parseName(name), type: parseType(type) ?? 0, class: CLASS.IN };
  const empty = { answers: [], authorities: [], additionals: [], edns: undefined };
  return {
    name: toKey(asked.name),
    packet: encodeMessage({ header: QUERY_HEADER, questions: [asked], ...empty }),
  };
}

/**
 * Expects that no local name leaves, and that no answer for one is an upstream's.
 *
 * @returns what readers gave of names that are ours from the first second on, by question
 */
export async function expectOursToStay(settings: LoadSettings): Promise<ReadonlyMap<string, number>> {
  const { isOurs, questions, changes = {}, clock = new ManualClock() } = settings;
  const upstream = new YesUpstream(clock, isOurs);
  const upstreams = [upstream, ...(settings.upstreams ?? [])];
  let server = await startServer(settings, clock, upstream);
  const byReader = new Map<string, number>();
  const replaced: string[] = [];
  let prefetched = 0;
  for (let at = 0; at < SECONDS * 1000; at += STEP) {
    const second = at / 1000;
    for (const each of upstreams) each.isSilent = second >= SILENCE.from && second < SILENCE.until;
    await changes[second]?.(server.engine);
    if (second === TAKEOVER) {
      prefetched += server.prefetched;
      server.stop();
      server = await startServer(settings, clock, upstream);
    }
    const asking = [...questions, ...OTHERS].map(async (question, place) => {
      // Some are asked for at each step, others more rarely.
      if ((at / STEP) % (1 + (place % 4)) !== 0) return;
      const { name, packet } = makeNamedPacket(question);
      const wasOurs = isOurs(name);
      await server.ask(packet, (response, isByReader) => {
        if (wasOurs && isUpstreams(response)) replaced.push(`${question} at ${second} s`);
        if (wasOurs && isByReader) byReader.set(question, (byReader.get(question) ?? 0) + 1);
      });
    });
    // Replies of sockets come in hardly any virtual time, but after a silence a query may have to be sent again.
    if (settings.upstreams !== undefined && !upstream.isSilent) {
      let isDone = false;
      const all = Promise.all(asking).finally(() => {
        isDone = true;
      });
      await waitUntil('the answers', () => isDone, { step: () => clock.advance(1) });
      await all;
    }
    await settle();
    clock.advance(STEP);
    await settle();
  }
  prefetched += server.prefetched;
  expect([...replaced, ...upstreams.flatMap(({ leaked }) => leaked)]).toEqual([]);
  // The proof needs names of others that are fetched again.
  const refreshed = upstreams.reduce((most, { asked }) => Math.max(most, asked.get(OTHER) ?? 0), 0);
  expect(refreshed).toBeGreaterThan(5);
  if (settings.upstreams === undefined) expect(prefetched).toBeGreaterThan(5);
  return byReader;
}

async function startServer(
  { plan, dependencies, fill }: LoadSettings,
  clock: ManualClock,
  upstream: YesUpstream,
): Promise<LoadedServer> {
  const engine = new Engine(plan, {
    readers: 0,
    version: 'test',
    connect: () => upstream.makeVirtual(),
    clock,
    log: silentLog,
    ...dependencies,
  });
  const server = new LoadedServer(engine, clock);
  onTestFinished(() => server.stop());
  let isStarted = false;
  const started = engine.start().finally(() => {
    isStarted = true;
  });
  await waitUntil('the start', () => isStarted, { step: () => clock.advance(1) });
  await started;
  await fill?.(engine);
  engine.listening();
  return server;
}
