/**
 * What the engine answers from: the value that the settings of each front end are compiled to, together with what the files and
 * objects that it follows say now.
 *
 * A plan is complete and checked. When one of the followed files changes, the front end compiles another plan, and the engine
 * changes to it.
 */
import type { Handler } from '../../chain/handler.ts';
import type { Federation } from '../../handlers/federation/federation.ts';
import type { LocalSettings } from '../../handlers/local/local-handlers.ts';
import type { ResolverSettings } from '../../handlers/resolver/resolver.ts';
import type { Dialect } from '../../kube/dialects/dialect.ts';
import type { PodMode } from '../../kube/names/pods.ts';
import type { EtcdSourceSettings } from '../../sources/etcd/etcd-source.ts';
import type { AddressRange } from '../../wire/address-range.ts';
import type { NameKey } from '../../wire/types.ts';
import type { ServerBlocksPlan } from './server-blocks-plan.ts';

export interface EnginePlan {
  /** The zone of a cluster; undefined: there is none. */
  readonly cluster: ClusterZonePlan | undefined;
  readonly federations: readonly Federation[];
  /** Undefined: all clients are answered alike. */
  readonly clients: ClientsPlan | undefined;
  /** Zones whose names come from an etcd, as SkyDNS has them. Default: none. */
  readonly etcd?: EtcdZonesPlan;
  /** Hosts files, records of options, and rules for questions and replies. */
  readonly local: LocalSettings;
  readonly resolver: Omit<ResolverSettings, 'changes' | 'leavesAddresses' | 'mayExist'>;
  /** Decides which answers from upstream may be cached, beyond the caching rules; undefined: all. */
  readonly cacheFilter: Handler | undefined;
  readonly cache: CacheSize;
  /** What is answered in class CHAOS; undefined: REFUSED. */
  readonly identity: IdentityPlan | undefined;
  /** Whether our own answers carry the RA bit. */
  readonly recursionAvailable: boolean;
  /** Whether answers with several addresses start with any of them; otherwise their order is kept. */
  readonly rotatesAddresses: boolean;
  /** Server blocks, each group of listeners with its own; they leave nothing to the handlers of the plan's other parts. */
  readonly serverBlocks: ServerBlocksPlan;
  /** The size that our OPT records offer, and the limit of UDP responses, in octets. */
  readonly udpSize: number;
}

export interface ClusterZonePlan {
  readonly domain: NameKey;
  readonly dialect: Dialect;
  readonly pods: PodMode;
  /** Seconds, 0 to 3600. */
  readonly ttl: number;
  /** The addresses of this machine, for the name server's own name. */
  readonly ownAddresses: readonly string[];
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

export interface EtcdZonesPlan {
  /** It belongs to the process: a changed plan leaves it as it was. */
  readonly source: EtcdSourceSettings;
  /** Zones in which missing names are forwarded. */
  readonly fallthrough: readonly NameKey[];
  /** Seconds, of an SOA record that is asked for. */
  readonly soaTtl: number;
  /** A name that has the records of another one. */
  readonly localName: { readonly alias: NameKey; readonly name: NameKey } | undefined;
  /** Domains that other servers answer, even within the zones. */
  readonly stubZones: readonly NameKey[];
  /** Labels that a name must have to be forwarded; infinite: none is. */
  readonly minForwardedLabels: number;
}

export interface CacheSize {
  readonly octets: number;
  /** Cached answers at most; infinite where the octets alone count. */
  readonly entries: number;
}

export interface IdentityPlan {
  /** Whether `version.bind` and its siblings are answered; otherwise NOTIMP. */
  readonly identifies: boolean;
  /** Seconds, of the answers that stay the same. */
  readonly ttl: number;
  /** What `cachesize.bind` says. */
  readonly cacheSize: number;
}
