/**
 * The zone of a Kubernetes cluster.
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { ClusterOptions } from '../../publish/cluster.ts';
import type { NodesUse } from '../../publish/nodes-use.ts';
import type { TenantRules } from '../../publish/tenant-rules.ts';

export type AnyClusterOptions = KubernetesOptions | ProcessClusterOptions;

/** The cluster of the process, which the server fills with objects: a changed plan changes only `exceptions`. */
export interface ProcessClusterOptions
  extends Pick<
      ClusterOptions,
      'domain' | 'dialect' | 'pods' | 'ttl' | 'nodes' | 'ownAddresses' | 'hasHttpsRecords'
    >,
    Required<Pick<ClusterOptions, 'endpointRanges' | 'filteredTypes'>> {
  readonly kind: 'process';
  /** Who sees what; undefined: all clients see everything. */
  readonly tenants?: TenantRules | undefined;
  /** Zones below the domain that have servers of their own: their names go to the next handler. */
  readonly exceptions: readonly NameKey[];
}

/** A cluster that the plugin itself follows: what its directive says. */
export interface KubernetesOptions {
  readonly kind: 'directive';
  readonly zones: readonly NameKey[];
  /** The first of `zones` that is neither a reverse zone nor one of a cluster set: answers for addresses are names in it. */
  readonly primaryZone: NameKey;
  /** Those of `zones` that have the services of a cluster set. */
  readonly multicluster: readonly NameKey[];
  readonly api: KubernetesApi;
  /** `insecure`: every name of the form `1-2-3-4.namespace.pod` has its address. `verified`: only if such a pod exists. */
  readonly pods: 'disabled' | 'insecure' | 'verified';
  /** Endpoints without a hostname are named after their pods. */
  readonly endpointPodNames: boolean;
  /** The namespaces whose services have names; empty: all that `namespaceLabels` selects. */
  readonly namespaces: readonly string[];
  /** A label selector, in the form of the API. */
  readonly namespaceLabels: string | undefined;
  /** A label selector for services and EndpointSlices, in the form of the API. */
  readonly labels: string | undefined;
  /** Seconds, 0 to 3600. */
  readonly ttl: number;
  /** Endpoints are not followed, so headless services have no names. */
  readonly hasEndpoints: boolean;
  /** A service without ready endpoints has no name. */
  readonly ignoresEmptyService: boolean;
  /** Headless services have names that select their endpoints by topology zone. */
  readonly zonal: boolean;
  /** Zones in which missing names go to the next handler; empty: in none. */
  readonly fallthrough: readonly NameKey[];
  /** How long listening waits for the first state of the cluster: milliseconds. */
  readonly startupTimeout: number;
  /** From `portolan`: the ranges of pods and nodes. Undefined: not known. */
  readonly endpointRanges?: readonly AddressRange[] | undefined;
  /** From `portolan`: what is learned from nodes. Undefined: nothing. */
  readonly nodes?: NodesUse | undefined;
  /** From `portolan`: whether services have HTTPS records. Default: no. */
  readonly hasHttpsRecords?: boolean;
  /** From `portolan`: who sees what. Undefined: all clients see everything. */
  readonly tenants?: TenantRules | undefined;
  /** From `portolan`; undefined: none is kept. */
  readonly snapshot?: KubernetesSnapshot | undefined;
}

/** A file with the last good state of the cluster. */
export interface KubernetesSnapshot {
  readonly file: string;
  /** Milliseconds: an older one is not used. 0: any age. */
  readonly maxAge: number;
}

export interface KubernetesApi {
  /** Undefined: the kubeconfig, else the service account of the pod. */
  readonly endpoint: string | undefined;
  /** For `endpoint`; paths of files. */
  readonly tls:
    | { readonly certificate: string; readonly key: string; readonly authorities: string }
    | undefined;
  /** Takes precedence over `endpoint`. */
  readonly kubeconfig: { readonly path: string; readonly context: string | undefined } | undefined;
  /** Requests per second, at once, and in flight; 0: the client's own limits. */
  readonly qps: number;
  readonly burst: number;
  readonly maxInflight: number;
}
