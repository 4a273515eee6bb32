/**
 * What reasons need to know of a cluster. An adapter fills it from whatever holds the objects: the sources of a server, manifests, or
 * objects that a client has read with its own rights.
 *
 * `undefined` always means "not looked at", never "none".
 */

import type { AppProtocol } from '@portolan/kubernetes/objects/objects.ts';
import type { Hiding } from './reason.ts';

export interface EndpointEvidence {
  readonly address: string;
  /** The name of the endpoint below its service, if it has one of its own. */
  readonly hostname: string | undefined;
  /** Its pod, if known. */
  readonly pod: string | undefined;
}

export interface EndpointsByState {
  readonly ready: readonly EndpointEvidence[];
  readonly notReady: readonly EndpointEvidence[] | undefined;
  /** Endpoints that are shutting down. */
  readonly terminating: readonly EndpointEvidence[] | undefined;
}

export interface PortEvidence {
  /** Empty: the only port of the service, without a name. */
  readonly name: string;
  /** `tcp`, `udp` or `sctp`. */
  readonly protocol: string;
  readonly port: number;
  /** Default: not known. */
  readonly appProtocol?: AppProtocol;
}

export interface ServiceEvidence {
  readonly namespace: string;
  readonly name: string;
  readonly address:
    | { readonly kind: 'clusterIPs'; readonly addresses: readonly string[] }
    | { readonly kind: 'headless' }
    | { readonly kind: 'externalName'; readonly name: string };
  readonly ports: readonly PortEvidence[];
  /** `none`: the service has no selector. */
  readonly selector: ReadonlyMap<string, string> | 'none' | undefined;
  /** The pods that the selector matches. */
  readonly selectedPods: number | undefined;
  readonly endpoints: EndpointsByState;
}

export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
}

export interface ClusterEvidence {
  hasNamespace(namespace: string): boolean;
  findService(namespace: string, name: string): ServiceEvidence | undefined;
  /** All services; for names that are near. */
  services(): Iterable<ServiceName>;
  namespaces(): Iterable<string>;
  /** When a service that does not exist went: milliseconds since 1970. Undefined: not known. */
  goneSince?(namespace: string, name: string): number | undefined;
}

/** The settings that decide which names a zone of a cluster has. */
export interface ClusterZoneEvidence {
  /** The apex: `cluster.local.`. */
  readonly domain: string;
  readonly pods: 'disabled' | 'insecure' | 'verified';
  /** Whether the zone may deny names; if not, what is missing. */
  readonly missing: readonly string[] | undefined;
  /** Whether the configuration leaves a namespace out. */
  isExcluded(namespace: string): boolean;
  /** Why the client does not see a service, or a namespace with all its services; undefined: it does. Default: it sees all. */
  findHiding?(namespace: string, service: string | undefined): Hiding | undefined;
  /** Whether services with addresses and without ready endpoints have no names. */
  readonly ignoresEmptyServices: boolean;
  /** Whether services have HTTPS records. Default: no. */
  readonly hasHttpsRecords?: boolean;
}
