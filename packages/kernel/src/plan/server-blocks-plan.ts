/**
 * Server blocks and the listener groups that they serve, for all front ends.
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { ResponseForm } from '../chain/response-form.ts';
import type { PluginUse } from '../contract/plugin-use.ts';
import type { RestoredDeviations } from '../deviations/table.ts';
import type { ClientRules } from '../listen/client-rules.ts';
import type { ProxyProtocolPlan } from '../listen/proxy-protocol/proxy-policy.ts';
import type { TlsOptions } from '../listen/secure/tls-identity.ts';

export interface ServerBlocksPlan {
  readonly blocks: readonly ServerBlockPlan[];
  /** Group names are unique. */
  readonly groups: readonly GroupPlan[];
  /** The deviations in which blocks do as CoreDNS does. */
  readonly restored: RestoredDeviations;
  readonly responses: ResponsePlan;
}

export interface ServerBlockPlan {
  /** In the order of the keys, without duplicates; at least one. */
  readonly zones: readonly NameKey[];
  /** The name of its view in metrics and logs. Default: none. */
  readonly view?: string;
  /** In query order. */
  readonly plugins: readonly PluginUse[];
  /** Undefined: all clients get the same answers. */
  readonly clients?: ClientsPlan | undefined;
}

/** How answers depend on the networks of this machine. */
export interface ClientsPlan {
  /** The networks of the interfaces now; the server follows changes. */
  readonly networks: readonly AddressRange[];
  /** Whether to ignore clients in other networks. */
  readonly servesOnlyNetworks: boolean;
  /** Whether to answer local names only with addresses in the client's network, if there are any. */
  readonly localises: boolean;
}

/** How to turn answers into packets, and how to count them. */
export interface ResponsePlan {
  readonly form: ResponseForm;
  /** Whether to rotate the addresses of an answer, or to keep their order. `as-handlers-say`: a handler of the block rotates them. */
  readonly rotatesAddresses: boolean | 'as-handlers-say';
  readonly counting: CountingPlan;
}

export type CountingPlan =
  /** By server, zone and view, as CoreDNS does. */
  | { readonly by: 'site' }
  /** Names within a domain apart from all others; undefined: all names together. */
  | { readonly by: 'domain'; readonly domain: NameKey | undefined };

/** The name of the only group of our own front ends. */
export const PLAIN_GROUP = 'dns';

/** Sockets that answer alike. */
export interface GroupPlan {
  /** `dns://:53`, `dns://192.0.2.1:53`: its name in metrics. */
  readonly server: string;
  /** If several sites have the same zone, the first one that accepts a query answers it. */
  readonly sites: readonly SitePlan[];
  /** The listen address. Left out: sockets are chosen elsewhere. Empty: all addresses. */
  readonly address?: string;
  readonly port?: number;
}

/** A group with sockets of its own. */
export interface ListenerGroupPlan extends GroupPlan {
  readonly address: string;
  readonly port: number;
  readonly tcp: TcpPlan;
  /** IP addresses to listen on in place of `address`; `all`: all families of the machine. */
  readonly addresses?: 'all' | readonly string[] | undefined;
  /** Dedicated threads that answer UDP; 1: the group uses the shared threads. */
  readonly readers: number;
  /** `dns`: over UDP and TCP. */
  readonly scheme: ListenScheme;
  /** Undefined: connections are not encrypted. */
  readonly tls: TlsOptions | undefined;
  /** What its clients may do; undefined: everything. */
  readonly clients?: ClientRules | undefined;
  /** Whose headers tell the client; undefined: no header does. */
  readonly proxies?: ProxyProtocolPlan | undefined;
  /** Whether to count what is dropped under load. Default: no. */
  readonly countsDrops?: boolean;
}

export type ListenScheme = 'dns' | 'tls' | 'https' | 'grpc';

/** Limits of TCP connections; undefined: those of CoreDNS. */
export interface TcpPlan {
  /** Milliseconds without a query after which to close a connection. Default: 10 s. */
  readonly idle: number | undefined;
  /** Milliseconds until the first query of a connection must be complete. Default: as `idle`. */
  readonly read: number | undefined;
  /** Milliseconds that a client may leave responses unread. Default: as `idle`. */
  readonly write: number | undefined;
  /** The most queries on one connection; -1: no limit, the default. */
  readonly queries: number | undefined;
  /** The most connections of all clients, and of one client. Default: those of all front ends. */
  readonly connections?: number | undefined;
  readonly connectionsPerClient?: number | undefined;
  /** The most queries of a connection that wait for their answers. Default: those of all front ends. */
  readonly owed?: number | undefined;
}

/** A zone that a block serves on the listeners of a group. */
export interface SitePlan {
  readonly zone: NameKey;
  /** Index into `blocks`. */
  readonly block: number;
}

/** All plugins of a plan. */
export function pluginUses({ blocks }: Pick<ServerBlocksPlan, 'blocks'>): readonly PluginUse[] {
  return blocks.flatMap(({ plugins }) => plugins);
}

/** The name of a block's view; empty: none. */
export function getViewName(block: ServerBlockPlan | undefined): string {
  return block?.view ?? '';
}

/** The same plan, with other uses of plugins. */
export function mapUses<Plan extends Pick<ServerBlocksPlan, 'blocks'>>(
  plan: Plan,
  change: (use: PluginUse) => PluginUse,
): Plan {
  return { ...plan, blocks: plan.blocks.map((block) => ({ ...block, plugins: block.plugins.map(change) })) };
}
