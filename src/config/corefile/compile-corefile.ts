/**
 * Compiles the server blocks of a Corefile to the plan of a server.
 */
import { availableParallelism } from 'node:os';
import type { MultisocketOptions } from '../../plugins/multisocket/options.ts';
import { countCores, readersFor } from '../cores.ts';
import type { EnginePlan } from '../server/engine-plan.ts';
import type { PluginName, PluginOptions } from '../server/plugin-plan.ts';
import type { ListenerGroupPlan, SitePlan } from '../server/server-blocks-plan.ts';
import type { EndpointPlan, ServerPlan } from '../server/server-plan.ts';
import type { ServerBlock } from './read-corefile.ts';

/** The options of a plugin in a block; undefined if the block does not have the plugin. */
export function findOptions<Name extends PluginName>(
  { plugins }: Pick<ServerBlock, 'plugins'>,
  name: Name,
): PluginOptions[Name] | undefined {
  // The plugin's name determines the type of its options.
  return plugins.find((use) => use.name === name)?.options as PluginOptions[Name] | undefined;
}

export interface CompileSettings {
  /** Whether to join ports that another process serves. */
  readonly takeover: boolean;
  /** Whether to behave as CoreDNS even where Portolan deliberately differs. */
  readonly isStrict: boolean;
}

/** @param blocks from a Corefile without problems */
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
    // Do not expose without TLS the metrics that the Corefile restricts to TLS.
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

/** Makes one group per address and port; the first block of a group determines its socket settings. */
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

/** For `multisocket`; more threads than processors do not answer faster. */
function readersOf(multisocket: MultisocketOptions | undefined): number {
  const processors = availableParallelism();
  return multisocket === undefined ? 1 : Math.min(multisocket.sockets ?? processors, processors);
}
