/**
 * Server blocks and the groups of listeners that they serve: all that answers, whatever the front end.
 */
import type { AddressRange } from '../../wire/address-range.ts';
import type { NameKey } from '../../wire/types.ts';
import type { PluginName, PluginOptions, PluginPlan } from './plugin-plan.ts';

export interface ServerBlocksPlan {
  readonly blocks: readonly ServerBlockPlan[];
  /** Each with a name of its own. */
  readonly groups: readonly GroupPlan[];
  /** Whether blocks do as CoreDNS does also where that harms: none of the differences that are meant. */
  readonly isStrict: boolean;
  readonly responses: ResponsePlan;
}

export interface ServerBlockPlan {
  /** In the order of its keys, each once; at least one. */
  readonly zones: readonly NameKey[];
  /** In the order in which they see a query. */
  readonly plugins: readonly PluginPlan[];
  /** Undefined: all clients are answered alike. */
  readonly clients?: ClientsPlan | undefined;
}

/** What answers have to do with the networks that this machine is part of. */
export interface ClientsPlan {
  /** Those of its interfaces, as they are now. They are followed. */
  readonly networks: readonly AddressRange[];
  /** Whether clients of other networks get no response. */
  readonly servesOnlyNetworks: boolean;
  /** Whether local names that have addresses in the network of the client are answered with these alone. */
  readonly localises: boolean;
}

/** How answers become packets, and what they are counted by. */
export type ResponsePlan =
  /** As CoreDNS sends them, counted by server and zone. */
  | { readonly kind: 'coredns' }
  /** As our own front ends send them. */
  | {
      readonly kind: 'plain';
      /** Whether our own answers carry the RA bit. */
      readonly recursionAvailable: boolean;
      /** Whether answers with several addresses start with any of them; otherwise their order is kept. */
      readonly rotatesAddresses: boolean;
      /** Names within are counted apart from all others; undefined: all are counted alike. */
      readonly domain: NameKey | undefined;
    };

/** Sockets that answer alike. */
export interface GroupPlan {
  /** `dns://:53`, `dns://192.0.2.1:53`: its name in metrics. */
  readonly server: string;
  /** Of several for one zone, the first that accepts a query answers it. */
  readonly sites: readonly SitePlan[];
  /** Where it listens; left out: the sockets are chosen elsewhere. An empty address stands for all. */
  readonly address?: string;
  readonly port?: number;
}

/** A group with sockets of its own. */
export interface ListenerGroupPlan extends GroupPlan {
  readonly address: string;
  readonly port: number;
  readonly tcp: TcpPlan;
  /** Threads of its own that answer UDP; 1: it has those that all groups have in common. */
  readonly readers: number;
}

/** Bounds of TCP connections; undefined: those of CoreDNS. */
export interface TcpPlan {
  /** Milliseconds without a query after which a connection is closed. Default: 10 s. */
  readonly idle: number | undefined;
  /** Milliseconds until the first query of a connection is whole. Default: as `idle`. */
  readonly read: number | undefined;
  /** Milliseconds that a client may leave answers untaken. Default: as `idle`. */
  readonly write: number | undefined;
  /** Queries on one connection; -1: any number, the default. */
  readonly queries: number | undefined;
}

/** A zone that a block serves on the listeners of a group. */
export interface SitePlan {
  readonly zone: NameKey;
  /** Its place among `blocks`. */
  readonly block: number;
}

/** The names of all plugins of a plan. */
export function pluginNames({ blocks }: Pick<ServerBlocksPlan, 'blocks'>): readonly PluginName[] {
  return blocks.flatMap(({ plugins }) => plugins.map(({ name }) => name));
}

/** The options of a plugin of a block; undefined: the block, if there is one, does not have it. */
export function optionsOf<Name extends PluginName>(
  block: ServerBlockPlan | undefined,
  name: Name,
): PluginOptions[Name] | undefined {
  // A plugin's name says which options it has.
  return block?.plugins.find((use) => use.name === name)?.options as PluginOptions[Name] | undefined;
}
