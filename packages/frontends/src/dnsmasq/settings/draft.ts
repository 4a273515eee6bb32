/**
 * A plan under construction: starts with dnsmasq's defaults, which options then change.
 */

import type { NameKey, RecordData } from '@portolan/dns/types.ts';
import type { NftsetRule } from '@portolan/plugins/nftset/options.ts';
import type { Cname, HostRecord } from '@portolan/sources/local/local-plan.ts';
import type {
  CachePlan,
  DnsmasqListenPlan,
  DnsmasqLogPlan,
  FiltersPlan,
  LocalDataPlan,
  ProcessPlan,
  UpstreamsPlan,
} from './dnsmasq-plan.ts';

/** A section with writable fields and lists. */
type Open<Section> = {
  -readonly [Field in keyof Section]: Section[Field] extends readonly (infer Item)[]
    ? Item[]
    : Section[Field];
};

export interface DnsmasqDraft {
  readonly upstreams: Open<Omit<UpstreamsPlan, 'resolvFiles' | 'choice' | 'sourcePorts'>>;
  readonly resolv: { default: boolean; files: string[]; ignored: boolean };
  readonly choice: { inOrder: boolean; all: boolean };
  readonly ports: { query: number | undefined; min: number; max: number };
  readonly filters: Open<Omit<FiltersPlan, 'rebind'>>;
  readonly rebind: Open<FiltersPlan['rebind']>;
  readonly cache: Open<CachePlan>;
  readonly hosts: Open<
    Omit<LocalDataPlan, 'records' | 'cnames' | 'hostRecords' | 'mxOfHosts' | 'hostsFiles'>
  > & {
    /** In the order given. */
    readonly additionalFiles: string[];
    readsSystemFile: boolean;
    /** `--domain=#`: take the domain from the first `search` line of the resolv file. */
    domainFromResolvFile: boolean;
  };
  readonly records: DraftRecords;
  readonly nftset: { readonly rules: Omit<NftsetRule, 'isClosed'>[]; isClosed: boolean };
  readonly listen: Open<Omit<DnsmasqListenPlan, 'interfaces' | 'bind' | 'localService'>> & {
    interfaces: string[] | undefined;
    bindsInterfaces: boolean;
    bindsDynamic: boolean;
    localService: 'off' | 'network' | 'host';
  };
  readonly process: Open<Omit<ProcessPlan, 'queryLog' | 'dashboard' | 'history'>>;
  readonly log: Omit<Open<DnsmasqLogPlan>, 'to'> & { to: DnsmasqLogPlan['to'] | undefined };
  /** Settings of Portolan's own query log, as words. */
  readonly queryLog: string[];
  /** The values of the options of the history, by name. */
  readonly history: Record<'history-size' | 'history-file' | 'history-names', string | undefined>;
  /** The values of the options of the dashboard, by name. */
  readonly dashboard: Readonly<Record<'dashboard' | 'dashboard-host', string[]>>;
  /** `--test`. */
  test: boolean;
}

/** Records whose TTL or other missing parts are known only after all options are read. */
export interface DraftRecords {
  readonly hosts: Unlasting<HostRecord>[];
  readonly cnames: Unlasting<Cname>[];
  readonly others: { readonly name: NameKey; readonly data: RecordData }[];
  readonly mailExchanges: MailExchange[];
  mxTarget: NameKey | undefined;
  localMx: boolean;
  selfMx: boolean;
}

type Unlasting<Kind extends { readonly ttl: number }> = Omit<Kind, 'ttl'> & {
  readonly ttl: number | undefined;
};

export interface MailExchange {
  readonly name: NameKey;
  /** The target of `--mx-target`; if undefined, the name of this host. */
  readonly target: NameKey | undefined;
  readonly preference: number;
}

/**
 * Queries in flight. dnsmasq's default of 150 is a known problem in clusters: a burst from one client blocks all others. Portolan
 * limits the share of each client instead.
 */
export const FORWARD_MAX = 1500;

/** dnsmasq's defaults (its manual page, and `config.h` where the page is silent). */
export function newDraft(): DnsmasqDraft {
  return {
    upstreams: {
      routes: [],
      followsResolvFiles: true,
      serversFile: undefined,
      portLimit: 1,
      detectsLoops: false,
      forwardMax: FORWARD_MAX,
      keepsPlainNames: false,
      keepsPrivateReverse: false,
      retry: undefined,
    },
    resolv: { default: true, files: ['/etc/resolv.conf'], ignored: false },
    choice: { inOrder: false, all: false },
    ports: { query: undefined, min: 0, max: 0 },
    filters: { bogusNxdomain: [], ignoredAddresses: [], aliases: [], windows: false, types: [] },
    rebind: { stops: false, allowsLocalhost: false, allowedDomains: [] },
    cache: {
      size: 150,
      negatives: true,
      negativeTtl: 0,
      maxTtl: 0,
      maxCacheTtl: 0,
      minCacheTtl: 0,
      stale: 'never',
      moreTypes: [],
      clearsOnReload: false,
      rotatesAddresses: true,
    },
    ...newLocalDraft(),
    nftset: { rules: [], isClosed: false },
    listen: {
      port: 53,
      interfaces: undefined,
      exceptInterfaces: [],
      addresses: [],
      bindsInterfaces: false,
      bindsDynamic: false,
      localService: 'off',
      ednsPacketMax: 1232,
      maxTcpConnections: 20,
    },
    process: {
      blocksExtra: undefined,
      keepsStatistics: false,
      mode: 'background',
      user: 'nobody',
      group: { kind: 'default' },
      pidFile: '/var/run/dnsmasq.pid',
    },
    log: { to: undefined, queries: 'off', debug: false },
    queryLog: [],
    history: { 'history-size': undefined, 'history-file': undefined, 'history-names': undefined },
    dashboard: { dashboard: [], 'dashboard-host': [] },
    test: false,
  };
}

function newLocalDraft(): Pick<DnsmasqDraft, 'hosts' | 'records'> {
  return {
    hosts: {
      ttl: 0,
      readsSystemFile: true,
      additionalFiles: [],
      hostsFolders: [],
      expandsHosts: false,
      domain: undefined,
      domainFromResolvFile: false,
      rangeDomains: [],
      localisesQueries: false,
      identifies: true,
    },
    records: {
      hosts: [],
      cnames: [],
      others: [],
      mailExchanges: [],
      mxTarget: undefined,
      localMx: false,
      selfMx: false,
    },
  };
}
