/**
 * The settings of a dnsmasq command line and its files as plain data: every default is filled in and every value checked.
 *
 * Names are in lower case, as in dnsmasq. Lists are in the order given unless stated otherwise. Each field means what the manual page
 * of dnsmasq 2.90 says of the option named beside it.
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { UpstreamAddress } from '@portolan/kernel/forward/upstream-address.ts';
import type { NameScope } from '@portolan/plugins/local-names/name-scopes.ts';
import type { ReplyRules } from '@portolan/plugins/local-names/reply-rules.ts';
import type { NftsetRule } from '@portolan/plugins/nftset/options.ts';
import type { HistoryPlan } from '@portolan/server/plan/history-plan.ts';
import type { QueryLogPlan } from '@portolan/server/plan/query-log-plan.ts';
import type { InterfaceListenPlan } from '@portolan/server/plan/server-plan.ts';
import type { OwnDashboardPlan } from '@portolan/server/settings/own-dashboard/own-dashboard.ts';
import type { LocalNamesPlan } from '@portolan/sources/local/local-plan.ts';

export interface DnsmasqPlan {
  readonly upstreams: UpstreamsPlan;
  readonly filters: FiltersPlan;
  readonly cache: CachePlan;
  readonly local: LocalDataPlan;
  /** Sets of nftables for addresses (`--nftset`). */
  readonly nftset: readonly NftsetRule[];
  readonly listen: DnsmasqListenPlan;
  readonly process: ProcessPlan;
  readonly log: DnsmasqLogPlan;
}

/** Where to forward queries that local data does not answer. */
export interface UpstreamsPlan {
  /** `--server`, `--local`, `--address`, `--rev-server` and `--domain=...,local`. */
  readonly routes: readonly DnsmasqRoute[];
  /** The newest of these files is used (`--resolv-file`, `--no-resolv`); empty: no file is read. */
  readonly resolvFiles: readonly string[];
  /** Whether to reread `resolvFiles` when they change, without SIGHUP (`--no-poll`). */
  readonly followsResolvFiles: boolean;
  /** A file of routes that is reread on SIGHUP (`--servers-file`). */
  readonly serversFile: string | undefined;
  /** `in-order` is `--strict-order`, `all` is `--all-servers`; `preferred` prefers servers that are known to answer. */
  readonly choice: 'preferred' | 'in-order' | 'all';
  readonly sourcePorts: SourcePortOptions;
  /** The most source ports for one query, from 1 (`--port-limit`). */
  readonly portLimit: number;
  readonly detectsLoops: boolean;
  /** The most queries in flight (`--dns-forward-max`), from 0. */
  readonly forwardMax: number;
  /** Whether A and AAAA queries for single-label names are never forwarded (`--domain-needed`). */
  readonly keepsPlainNames: boolean;
  /** Whether reverse lookups of private addresses are never forwarded (`--bogus-priv`). */
  readonly keepsPrivateReverse: boolean;
  /** When to retransmit without a repeat from the client, in milliseconds (`--fast-dns-retry`). */
  readonly retry: { readonly after: number; readonly until: number } | undefined;
}

export type SourcePortOptions =
  /** Ports from `min` to `max`, each 1 to 65535 (`--min-port`, `--max-port`). */
  | { readonly kind: 'random'; readonly min: number; readonly max: number }
  /** One port for all queries (`--query-port`); with 0 the system chooses it once. */
  | { readonly kind: 'fixed'; readonly port: number };

/** How to handle queries in a part of the name space. The longest scope wins; a `domain` wins over a `suffix` of equal length. */
export interface DnsmasqRoute {
  readonly scope: NameScope;
  readonly action: RouteAction;
}

export type RouteAction =
  | { readonly kind: 'forward'; readonly server: UpstreamAddress }
  /** Forward to the default servers (`#`). */
  | { readonly kind: 'default' }
  /** Never forward: answer from local data or with NXDOMAIN. */
  | { readonly kind: 'local' }
  /** Answer queries of the address's own type with it; pass others on. */
  | { readonly kind: 'address'; readonly address: string }
  /** Answer with `0.0.0.0` and `::`. */
  | { readonly kind: 'null-address' };

/**
 * Filters for upstream replies: `--bogus-nxdomain`, `--alias` (the last given comes first), `--stop-dns-rebind` with its
 * exceptions, and the fields below.
 */
export interface FiltersPlan extends ReplyRules {
  /** Ignore replies with such an address and wait for another (`--ignore-address`). */
  readonly ignoredAddresses: readonly AddressRange[];
  /** Whether SOA, SRV and ANY queries for names with an underscore are never forwarded (`--filterwin2k`). */
  readonly windows: boolean;
  /** Types to remove from answers (`--filter-A`, `--filter-AAAA`, `--filter-rr`); 255 reduces answers to ANY. */
  readonly types: readonly number[];
}

/** Cache settings; times are in seconds. */
export interface CachePlan {
  /** Entries, 0 to 5,000,000; 0 turns caching off. */
  readonly size: number;
  readonly negatives: boolean;
  /** The TTL of negative replies without SOA; 0: do not cache these. */
  readonly negativeTtl: number;
  /** The maximum TTL in answers to clients; 0: no limit. */
  readonly maxTtl: number;
  /** 0: no limit. */
  readonly maxCacheTtl: number;
  /** 0 to 3600. */
  readonly minCacheTtl: number;
  /** How long to serve an answer after it expires (`--use-stale-cache`). */
  readonly stale: 'never' | 'forever' | number;
  /** Types to cache beside A, AAAA, CNAME and SRV; 255: all types (`--cache-rr`). */
  readonly moreTypes: readonly number[];
  readonly clearsOnReload: boolean;
  /** Whether to rotate the addresses of an answer (`--no-round-robin`). */
  readonly rotatesAddresses: boolean;
}

/** Local records and names, of class IN. In `rangeDomains`, the last given comes first. */
export interface LocalDataPlan extends Omit<LocalNamesPlan, 'rangeDomains'> {
  /**
   * Hosts files, or folders of them, in reading order: `/etc/hosts`, then those of `--addn-hosts` from the last given to the first.
   * An address gets the first of its names as PTR record.
   */
  readonly hostsFiles: readonly string[];
  /** Folders to watch for hosts files (`--hostsdir`). */
  readonly hostsFolders: readonly string[];
  readonly rangeDomains: readonly SynthesisedDomain[];
  /** Whether to answer `version.bind` and similar names. */
  readonly identifies: boolean;
}

export interface SynthesisedDomain {
  readonly domain: NameKey;
  readonly of:
    | { readonly kind: 'range'; readonly first: string; readonly last: string }
    | { readonly kind: 'interface'; readonly interface: string };
}

export interface DnsmasqListenPlan extends InterfaceListenPlan {
  /** Whether to answer only clients in directly connected networks. */
  readonly localService: boolean;
  /** The maximum size of a UDP response in octets, 512 to 4096. */
  readonly ednsPacketMax: number;
}

export interface ProcessPlan {
  /** A file of further plugins in Corefile syntax (`--blocks-extra`, a Portolan option). */
  readonly blocksExtra: string | undefined;
  /** Whether queries are always counted for `portolan top` (`--stats`, a Portolan option). */
  readonly keepsStatistics: boolean;
  /** What is remembered of failures and changes (`--history-size`, a Portolan option); undefined: nothing. */
  readonly history: HistoryPlan | undefined;
  /** The dashboard that the server shows of itself (`--dashboard`, a Portolan option); undefined: none. */
  readonly dashboard: OwnDashboardPlan | undefined;
  /** Portolan's own query log (`--query-log`, a Portolan option); undefined: queries are not in it. */
  readonly queryLog: QueryLogPlan | undefined;
  /** `background` detaches a child process; `debug` is `-d`. */
  readonly mode: 'background' | 'foreground' | 'debug';
  /** The user to switch to after start; undefined: keep the current user. */
  readonly user: string | undefined;
  /** `default` is the group `dip`, as in dnsmasq, if it exists. */
  readonly group: { readonly kind: 'default' | 'keep' } | { readonly kind: 'named'; readonly name: string };
  readonly pidFile: string | undefined;
}

export interface DnsmasqLogPlan {
  readonly to:
    | { readonly kind: 'syslog'; readonly facility: string }
    | { readonly kind: 'file'; readonly path: string }
    | { readonly kind: 'standard-error' };
  /** `extra` adds a serial number and the client's address. */
  readonly queries: 'off' | 'plain' | 'extra';
  readonly debug: boolean;
}
