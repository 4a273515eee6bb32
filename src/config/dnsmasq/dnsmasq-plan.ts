/**
 * What a dnsmasq command line and its files ask for, as plain data: every default filled in, every value checked.
 *
 * Names are lower case, as dnsmasq itself makes those with capitals. Lists keep the order in which they were given unless
 * they say otherwise. The meaning of each field is that of dnsmasq 2.90's manual page for the option named beside it.
 */

import type { UpstreamAddress } from '../../forward/upstream-address.ts';
import type { ReplyRules } from '../../plugins/local-names/reply-rules.ts';
import type { LocalNamesPlan } from '../../sources/local/local-plan.ts';
import type { AddressRange } from '../../wire/address-range.ts';
import type { NameKey } from '../../wire/types.ts';
import type { InterfaceListenPlan } from '../server/server-plan.ts';

export interface DnsmasqPlan {
  readonly upstreams: UpstreamsPlan;
  readonly filters: FiltersPlan;
  readonly cache: CachePlan;
  readonly local: LocalDataPlan;
  readonly listen: DnsmasqListenPlan;
  readonly process: ProcessPlan;
  readonly log: DnsmasqLogPlan;
}

/** Where questions go that we cannot answer ourselves. */
export interface UpstreamsPlan {
  /** `--server`, `--local`, `--address`, `--rev-server` and `--domain=...,local`. */
  readonly routes: readonly Route[];
  /** The newest of these files counts (`--resolv-file`, `--no-resolv`); empty if none is read. */
  readonly resolvFiles: readonly string[];
  /** Whether changes of `resolvFiles` are followed without SIGHUP (`--no-poll`). */
  readonly followsResolvFiles: boolean;
  /** A file of routes that SIGHUP reads again (`--servers-file`). */
  readonly serversFile: string | undefined;
  /** `in-order` is `--strict-order`, `all` is `--all-servers`; else servers known to be well are preferred. */
  readonly choice: 'preferred' | 'in-order' | 'all';
  readonly sourcePorts: SourcePortOptions;
  /** Source ports that one question may use, from 1 (`--port-limit`). */
  readonly portLimit: number;
  readonly detectsLoops: boolean;
  /** Questions in flight (`--dns-forward-max`), from 0. */
  readonly forwardMax: number;
  /** Whether A and AAAA questions for names of one label stay here (`--domain-needed`). */
  readonly keepsPlainNames: boolean;
  /** Whether reverse questions for private addresses stay here (`--bogus-priv`). */
  readonly keepsPrivateReverse: boolean;
  /** Repeats to upstreams of our own making, in milliseconds (`--fast-dns-retry`). */
  readonly retry: { readonly after: number; readonly until: number } | undefined;
}

export type SourcePortOptions =
  /** Ports from `min` to `max`, each 1 to 65535 (`--min-port`, `--max-port`). */
  | { readonly kind: 'random'; readonly min: number; readonly max: number }
  /** One for all questions (`--query-port`); 0 lets the system choose it once. */
  | { readonly kind: 'fixed'; readonly port: number };

/**
 * What happens to the questions of a part of the name space. The longest scope wins; of two equally long ones a `domain`
 * wins over a `suffix`.
 */
export interface Route {
  readonly scope: RouteScope;
  readonly action: RouteAction;
}

export type RouteScope =
  | { readonly kind: 'all' }
  /** Names of one label (`//`). */
  | { readonly kind: 'plain-names' }
  /** The name and all below it. */
  | { readonly kind: 'domain'; readonly name: NameKey }
  /** Names that end in these characters, in lower case and without the final dot (`/*example.com/`). */
  | { readonly kind: 'suffix'; readonly text: string };

export type RouteAction =
  | { readonly kind: 'forward'; readonly server: UpstreamAddress }
  /** To the servers for everything else (`#`). */
  | { readonly kind: 'default' }
  /** Never forwarded: answered from local data, else NXDOMAIN. */
  | { readonly kind: 'local' }
  /** The answer to questions of the address's own type; others go on. */
  | { readonly kind: 'address'; readonly address: string }
  /** `0.0.0.0` and `::`. */
  | { readonly kind: 'null-address' };

/**
 * What is done to replies of upstreams: `--bogus-nxdomain`, `--alias` (the last given comes first), `--stop-dns-rebind` with its
 * exceptions, and these.
 */
export interface FiltersPlan extends ReplyRules {
  /** Replies with such an address are waited past (`--ignore-address`). */
  readonly ignoredAddresses: readonly AddressRange[];
  /** Whether SOA, SRV and ANY with an underscore stay here (`--filterwin2k`). */
  readonly windows: boolean;
  /** Types removed from answers (`--filter-A`, `--filter-AAAA`, `--filter-rr`); 255 thins out answers to ANY. */
  readonly types: readonly number[];
}

/** Times are in seconds. */
export interface CachePlan {
  /** Entries, 0 to 5,000,000; 0 turns caching off. */
  readonly size: number;
  readonly negatives: boolean;
  /** For negative replies without SOA; 0 caches none of them. */
  readonly negativeTtl: number;
  /** The maximum in answers to clients; 0 sets no limit. */
  readonly maxTtl: number;
  /** 0 sets no limit. */
  readonly maxCacheTtl: number;
  /** 0 to 3600. */
  readonly minCacheTtl: number;
  /** How long behind its expiry an answer is still given (`--use-stale-cache`). */
  readonly stale: 'never' | 'forever' | number;
  /** Types cached beside A, AAAA, CNAME and SRV; 255 stands for all (`--cache-rr`). */
  readonly moreTypes: readonly number[];
  readonly clearsOnReload: boolean;
  /** Whether answers with several addresses start with any of them (`--no-round-robin`). */
  readonly rotatesAddresses: boolean;
}

/** What we know ourselves. `rangeDomains`: the last given comes first. Records are of class IN. */
export interface LocalDataPlan extends Omit<LocalNamesPlan, 'rangeDomains'> {
  /**
   * Hosts files, or folders of them, in the order in which they are read: `/etc/hosts` first, then those of `--addn-hosts`
   * from the last given to the first. The first name of an address gets its PTR.
   */
  readonly hostsFiles: readonly string[];
  /** Folders whose files are followed (`--hostsdir`). */
  readonly hostsFolders: readonly string[];
  readonly rangeDomains: readonly RangeDomain[];
  /** Whether `version.bind` and its siblings are answered. */
  readonly identifies: boolean;
}

export interface RangeDomain {
  readonly domain: NameKey;
  readonly of:
    | { readonly kind: 'range'; readonly first: string; readonly last: string }
    | { readonly kind: 'interface'; readonly interface: string };
}

export interface DnsmasqListenPlan extends InterfaceListenPlan {
  /** Whether only clients of directly connected networks are answered. */
  readonly localService: boolean;
  /** Octets of a UDP answer, 512 to 4096. */
  readonly ednsPacketMax: number;
}

export interface ProcessPlan {
  /** A file with further plugins in the syntax of a Corefile (`--blocks-extra`, which dnsmasq lacks). */
  readonly blocksExtra: string | undefined;
  /** `background` starts a detached child; `debug` is `-d`. */
  readonly mode: 'background' | 'foreground' | 'debug';
  /** Whom to become after the start; undefined stays who it is. */
  readonly user: string | undefined;
  /** `default` is dnsmasq's `dip`, where there is such a group. */
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
