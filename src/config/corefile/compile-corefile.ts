/**
 * The server blocks of a Corefile as the plan of a server.
 */
import { availableParallelism } from 'node:os';
import type { MultisocketOptions } from '../../plugins/multisocket/options.ts';
import { countCores, readersFor } from '../cores.ts';
import type { EnginePlan } from '../server/engine-plan.ts';
import type { PluginName, PluginOptions } from '../server/plugin-plan.ts';
import type { ListenerGroupPlan, SitePlan } from '../server/server-blocks-plan.ts';
import type { EndpointPlan, ServerPlan } from '../server/server-plan.ts';
import type { ServerBlock } from './read-corefile.ts';

/** The options of a plugin of a block; undefined: the block has none of that name. */
export function findOptions<Name extends PluginName>(
  { plugins }: Pick<ServerBlock, 'plugins'>,
  name: Name,
): PluginOptions[Name] | undefined {
  // A plugin's name says which options it has.
  return plugins.find((use) => use.name === name)?.options as PluginOptions[Name] | undefined;
}

export interface CompileSettings {
  /** Whether ports that another process serves are joined. */
  readonly takeover: boolean;
  /** Whether everything is as in CoreDNS, also where we differ on purpose. */
  readonly isStrict: boolean;
}

/** @param blocks of a Corefile without problems */
export function compileCorefile(
  blocks: readonly ServerBlock[],
  { takeover = false, isStrict = false }: Partial<CompileSettings> = {},
): ServerPlan {
  const groups = groupListeners(blocks);
  return {
    engine: compileEngine(blocks, groups, isStrict),
    listen: { kind: 'groups', groups },
    udpReaders: readersFor(countCores()),
    takeover,
    objects: undefined,
    queryLog: undefined,
    http: undefined,
    endpoints: blocks.flatMap(listEndpoints),
    lameduck: Math.max(0, ...blocks.map((block) => findOptions(block, 'health')?.lameduck ?? 0)),
  };
}

function listEndpoints(block: ServerBlock): readonly EndpointPlan[] {
  const [health, ready] = [findOptions(block, 'health'), findOptions(block, 'ready')];
  const [metrics, profile] = [findOptions(block, 'prometheus'), findOptions(block, 'pprof')];
  const goesBack = ready?.monitor === 'continuously';
  return [
    ...(ready === undefined ? [] : [{ kind: 'ready', address: ready.address, goesBack } as const]),
    ...(health === undefined ? [] : [{ kind: 'health', address: health.address, goesBack } as const]),
    ...(profile === undefined ? [] : [{ kind: 'profile', address: profile.address, goesBack } as const]),
    // What is meant for TLS alone is not told to everybody.
    ...(metrics === undefined || metrics.tlsConfiguration !== undefined
      ? []
      : [{ kind: 'metrics', address: metrics.address, goesBack } as const]),
  ];
}

function compileEngine(
  blocks: readonly ServerBlock[],
  groups: readonly ListenerGroupPlan[],
  isStrict: boolean,
): EnginePlan {
  return {
    isStrict,
    blocks: blocks.map(({ keys, plugins }) => ({
      zones: [...new Set(keys.map(({ zone }) => zone))],
      plugins,
    })),
    groups,
    responses: { kind: 'coredns' },
    cache: { octets: 4 * 2 ** 20, entries: Number.POSITIVE_INFINITY },
    udpSize: 4096,
  };
}

/** One group for each address and port; what belongs to the sockets is said by the first block of a group. */
function groupListeners(blocks: readonly ServerBlock[]): readonly ListenerGroupPlan[] {
  const groups = new Map<string, Omit<ListenerGroupPlan, 'sites'> & { readonly sites: SitePlan[] }>();
  blocks.forEach((block, index) => {
    const timeouts = findOptions(block, 'timeouts');
    for (const { zone, port } of block.keys)
      for (const address of findOptions(block, 'bind')?.addresses ?? ['']) {
        const server = `dns://${address.includes(':') ? `[${address}]` : address}:${port}`;
        const { idle, read, write, maxTcpQueries: queries } = timeouts ?? {};
        const tcp = { idle, read, write, queries };
        const readers = readersOf(findOptions(block, 'multisocket'));
        const group = groups.get(server) ?? { server, address, port, tcp, readers, sites: [] };
        groups.set(server, group);
        if (!group.sites.some((site) => site.zone === zone && site.block === index))
          group.sites.push({ zone, block: index });
      }
  });
  return [...groups.values()];
}

/** `multisocket`: more threads than processors answer nothing sooner. */
function readersOf(multisocket: MultisocketOptions | undefined): number {
  const processors = availableParallelism();
  return multisocket === undefined ? 1 : Math.min(multisocket.sockets ?? processors, processors);
}
