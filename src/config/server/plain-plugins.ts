/**
 * The options of plugins that no Corefile names: those of `serve`, `kube-dns`, `dnsmasq` and `skydns`.
 */
import type { Handler } from '../../chain/handler.ts';
import type { Dialect } from '../../kube/dialects/dialect.ts';
import type { PodMode } from '../../kube/names/pods.ts';
import type { Federation } from '../../plugins/federations/federation.ts';
import type { LocalSettings } from '../../plugins/local-names/local-handlers.ts';
import type { ResolverSettings } from '../../resolver/resolver.ts';
import type { EtcdSourceSettings } from '../../sources/etcd/etcd-source.ts';
import type { AddressRange } from '../../wire/address-range.ts';
import type { NameKey } from '../../wire/types.ts';

export interface PlainPluginOptions {
  /** Drops our own probes for loops. */
  readonly probes: undefined;
  /** Class CHAOS. A block without it refuses that class. */
  readonly identity: IdentityOptions;
  /** Questions for types that stand for no records. */
  readonly 'meta-types': undefined;
  /** Questions for ANY about names of the cluster. */
  readonly 'any-type': { readonly policy: Dialect['anyQuestions'] };
  /** Types of records that are left out of answers about names of the cluster. */
  readonly 'filtered-types': { readonly types: ReadonlySet<number> };
  /** Follows aliases to names of other handlers. */
  readonly aliases: undefined;
  /** Hosts files and records of options. */
  readonly 'local-names': LocalNamesOptions;
  /** Sends the names of zones past the plugins in between. */
  readonly 'stub-zones': StubZonesOptions;
  readonly federations: FederationsOptions;
  readonly 'cluster-zone': ClusterZoneOptions;
  /** NODATA in place of REFUSED for names that `local-names` knows. */
  readonly 'hosts-nodata': undefined;
  /** The rules of `local-names` for questions that nothing before answers. */
  readonly 'question-rules': undefined;
  /** A name of SkyDNS that has the records of another one. */
  readonly 'local-name': { readonly alias: NameKey; readonly name: NameKey };
  readonly 'etcd-zones': EtcdZonesOptions;
  /** Refuses names with fewer labels; infinite: all. */
  readonly 'forward-limit': { readonly minLabels: number };
  /** The cache, and behind it the upstream servers. */
  readonly resolver: ResolverOptions;
}

export interface IdentityOptions {
  /** Whether `version.bind` and its siblings are answered; otherwise NOTIMP. */
  readonly identifies: boolean;
  /** Seconds, of the answers that stay the same. */
  readonly ttl: number;
  /** What `cachesize.bind` says. */
  readonly cacheSize: number;
}

export interface LocalNamesOptions {
  readonly settings: LocalSettings;
  /** The networks of clients that local addresses are chosen for. */
  readonly networks: readonly AddressRange[];
}

export interface StubZonesOptions {
  readonly zones: readonly NameKey[];
  /** The plugin that their names go to. */
  readonly to: keyof PlainPluginOptions;
}

export interface FederationsOptions {
  /** The cluster's. */
  readonly domain: NameKey;
  readonly federations: readonly Federation[];
}

/** It belongs to the process: a changed plan leaves it as it was. */
export interface ClusterZoneOptions {
  readonly domain: NameKey;
  readonly dialect: Dialect;
  readonly pods: PodMode;
  /** Seconds, 0 to 3600. */
  readonly ttl: number;
  /** The addresses of this machine, for the name server's own name. */
  readonly ownAddresses: readonly string[];
  /** Types of records that are left out of all answers. */
  readonly filteredTypes: ReadonlySet<number>;
}

export interface EtcdZonesOptions {
  /** It belongs to the process: a changed plan leaves it as it was. */
  readonly source: EtcdSourceSettings;
  /** Zones in which missing names are forwarded. */
  readonly fallthrough: readonly NameKey[];
  /** Seconds, of an SOA record that is asked for. */
  readonly soaTtl: number;
}

export interface ResolverOptions extends Omit<ResolverSettings, 'changes' | 'leavesAddresses' | 'mayExist'> {
  /** Decides which answers from upstream may be cached, beyond the caching rules; undefined: all. */
  readonly cacheFilter: Handler | undefined;
}
