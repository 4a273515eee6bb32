/**
 * A server in the process that calls it: one listener over UDP and TCP on the main thread, and blocks of plugins behind it.
 *
 * The program has reader threads, metrics and a control socket around the same engine; see `packages/server`.
 */
import { parseKey, ROOT } from '@portolan/dns/name.ts';
import { DEFAULT_UDP_SIZE } from '@portolan/dns/response-size.ts';
import { type Clock, systemClock } from './base/clock.ts';
import { type Log, silentLog } from './base/log.ts';
import { toNativeForm } from './chain/response-form.ts';
import { loadPlugins, type PluginUse } from './contract/plugin-use.ts';
import { NOTHING_RESTORED } from './deviations/table.ts';
import { Engine } from './engine/engine.ts';
import { listenByDatagrams } from './listen/datagram.ts';
import { listenOnTcp, type TcpListener, type TcpOptions } from './listen/tcp.ts';
import type { UdpListener } from './listen/udp-listener.ts';
import type { EnginePlan } from './plan/engine-plan.ts';
import { PLAIN_GROUP, pluginUses } from './plan/server-blocks-plan.ts';

export interface BlockSettings {
  /** In text, as in `cluster.local`. The longest zone that a name lies in answers it. Default: the root. */
  readonly zones?: readonly string[];
  /** In the order in which they see a query. */
  readonly plugins: readonly PluginUse[];
}

export interface ServerSettings {
  /** An IP address. Default: 127.0.0.1. */
  readonly address?: string;
  /** Default: 0, a free one. */
  readonly port?: number;
  readonly blocks: readonly BlockSettings[];
  /** Octets for cached answers. Default: 4 MiB. */
  readonly cacheOctets?: number;
  /** What plugins say of the program. Default: none. */
  readonly version?: string;
  /** Default: silent. */
  readonly log?: Log;
  readonly clock?: Clock;
}

export interface EmbeddedServer {
  readonly address: string;
  readonly port: number;
  /** Its plugins, tables and counters. */
  readonly engine: Engine;
  /** Answers by other blocks from now on, without losing a query. @throws the error that prevents it; all stays as it was */
  change(blocks: readonly BlockSettings[]): Promise<void>;
  /** Answers what is pending, for 2 s at most, and closes everything. */
  stop(): Promise<void>;
}

const DEFAULT_CACHE_OCTETS = 4 * 2 ** 20;
const GRACE_MILLISECONDS = 2_000;

/**
 * Starts a server. It is there once its plugins can answer and its sockets are open.
 *
 * @throws the error of a plugin that cannot start, PortInUseError, or NameError for a zone that is no name
 */
export async function createServer(settings: ServerSettings): Promise<EmbeddedServer> {
  const { address = '127.0.0.1', port = 0, version = '', log = silentLog, clock = systemClock } = settings;
  const plan = writePlan(settings);
  await loadPlugins(pluginUses(plan));
  const engine = new Engine(plan, { readers: 0, version, clock, log });
  const { handleQuery, reader: answers } = engine;
  const common = { handleQuery, answers, udpSize: plan.udpSize, clock, log };
  let listeners: Listeners;
  try {
    await engine.start();
    listeners = await listen(common, address, port);
  } catch (error) {
    await engine.stop();
    throw error;
  }
  engine.listening();
  return {
    address,
    port: listeners.port,
    engine,
    change: (blocks) => engine.change(writePlan({ ...settings, blocks })),
    async stop() {
      await Promise.all([listeners.udp.stop(GRACE_MILLISECONDS), listeners.tcp.stop(GRACE_MILLISECONDS)]);
      await engine.stop();
    },
  };
}

interface Listeners {
  readonly tcp: TcpListener;
  readonly udp: UdpListener;
  readonly port: number;
}

type ListenerParts = Pick<TcpOptions, 'handleQuery' | 'answers' | 'udpSize' | 'clock' | 'log'>;

/** Opens one port over TCP and UDP. A free port of TCP may be taken over UDP: then it tries another one. */
async function listen(parts: ListenerParts, address: string, port: number, tries = 10): Promise<Listeners> {
  const tcp = await listenOnTcp({ ...parts, addresses: [{ address, port }], takeover: false, native: false });
  const opened = tcp.endpoints[0]?.port ?? port;
  try {
    const udp = await listenByDatagrams({ ...parts, addresses: [{ address, port: opened }] });
    return { tcp, udp, port: opened };
  } catch (error) {
    await tcp.stop(0);
    if (port !== 0 || tries === 1) throw error;
    return await listen(parts, address, port, tries - 1);
  }
}

function writePlan({ blocks, cacheOctets = DEFAULT_CACHE_OCTETS }: ServerSettings): EnginePlan {
  const plans = blocks.map(({ zones, plugins }) => ({
    zones: zones?.map(parseKey) ?? [ROOT],
    plugins,
  }));
  return {
    blocks: plans,
    groups: [
      {
        server: PLAIN_GROUP,
        sites: plans.flatMap(({ zones }, block) => zones.map((zone) => ({ zone, block }))),
      },
    ],
    restored: NOTHING_RESTORED,
    responses: {
      form: toNativeForm({
        recursionAvailable: true,
        udpSize: DEFAULT_UDP_SIZE,
        extendedErrors: 'all',
      }),
      rotatesAddresses: true,
      counting: { by: 'domain', domain: undefined },
    },
    cache: { octets: cacheOctets, entries: Number.POSITIVE_INFINITY },
    udpSize: DEFAULT_UDP_SIZE,
  };
}
