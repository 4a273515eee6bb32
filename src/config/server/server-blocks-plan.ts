/**
 * Server blocks and the listeners that they serve: what a Corefile says of answers.
 */
import type { NameKey } from '../../wire/types.ts';
import type { PluginName, PluginOptions, PluginPlan } from './plugin-plan.ts';

export interface ServerBlocksPlan {
  readonly blocks: readonly ServerBlockPlan[];
  /** Each with a name of its own. */
  readonly groups: readonly ListenerGroupPlan[];
  /** Whether blocks do as CoreDNS does also where that harms: none of the differences that are meant. */
  readonly isStrict: boolean;
}

export interface ServerBlockPlan {
  /** In the order of its keys, each once; at least one. */
  readonly zones: readonly NameKey[];
  /** In the order in which they see a query. */
  readonly plugins: readonly PluginPlan[];
}

/** Sockets that answer alike. */
export interface ListenerGroupPlan {
  /** `dns://:53`, `dns://192.0.2.1:53`: its name in metrics. */
  readonly server: string;
  /** Empty: all addresses. */
  readonly address: string;
  readonly port: number;
  readonly tcp: TcpPlan;
  /** Threads of its own that answer UDP; 1: it has those that all groups have in common. */
  readonly readers: number;
  /** Of several for one zone, the first that accepts a query answers it. */
  readonly sites: readonly SitePlan[];
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

export const NO_SERVER_BLOCKS: ServerBlocksPlan = { blocks: [], groups: [], isStrict: false };

/** The options of a plugin of a block; undefined: the block, if there is one, does not have it. */
export function optionsOf<Name extends PluginName>(
  block: ServerBlockPlan | undefined,
  name: Name,
): PluginOptions[Name] | undefined {
  // A plugin's name says which options it has.
  return block?.plugins.find((use) => use.name === name)?.options as PluginOptions[Name] | undefined;
}
