/**
 * Why an answer has no addresses: a closed union. The same names are words of the log, findings of `doctor`, labels of metrics and
 * headings of the documentation, see `reason-texts.ts`.
 */

/** A name that may have been meant. */
export interface Near {
  readonly service: string;
  readonly namespace: string;
  /** Changes of single characters between the two names of services; 0: the same name in another namespace. */
  readonly distance: number;
}

export type Reason =
  | (MaybeGone & {
      readonly kind: 'no-such-namespace';
      readonly namespace: string;
      readonly near: readonly Near[];
    })
  | (MaybeGone & {
      readonly kind: 'no-such-service';
      readonly namespace: string;
      readonly service: string;
      readonly near: readonly Near[];
    })
  | (OfService & {
      readonly kind: 'no-such-endpoint';
      readonly endpoint: string;
      readonly known: readonly string[];
    })
  | (OfService & {
      readonly kind: 'endpoints-not-ready';
      /** The endpoints that are not ready, by pod, hostname or address. */
      readonly endpoints: readonly string[];
    })
  | (OfService & { readonly kind: 'selector-matches-nothing'; readonly selector: string })
  /** Neither ready nor known not to be ready. */
  | (OfService & { readonly kind: 'no-endpoints'; readonly hasSelector: boolean | undefined })
  /** The API server has not given it a cluster IP. */
  | (OfService & { readonly kind: 'service-without-address' })
  | (OfService & { readonly kind: 'no-such-port'; readonly port: string; readonly ports: readonly string[] })
  /** `meant`: the name in the right form, if it exists. */
  | { readonly kind: 'not-a-name-form'; readonly meant: string | undefined }
  /** The name has records of other types. `detail`: why it lacks this one, if that is not plain. */
  | { readonly kind: 'no-data'; readonly type: string; readonly detail?: string }
  | { readonly kind: 'pods-not-served'; readonly mode: 'disabled' | 'verified' }
  | { readonly kind: 'excluded-by-config'; readonly what: string }
  /** The client does not see it. `what`: `service shop/web`, or a namespace. */
  | ({ readonly kind: 'other-tenant'; readonly what: string } & Hiding)
  | { readonly kind: 'zone-not-known'; readonly missing: readonly string[] }
  /** An ExternalName whose target is an address, leads back to itself, or leads to no address. */
  | (OfService & {
      readonly kind: 'external-name-target';
      readonly target: string;
      readonly problem: 'address' | 'circle' | 'no-answer';
    })
  /** A plugin of the configuration refused or denied the name. */
  | { readonly kind: 'blocked'; readonly plugin: string }
  /** Data of this server denies the name. `detail`: why the plugin lacks them, if it says so. */
  | { readonly kind: 'denied-locally'; readonly plugin: string; readonly detail?: string }
  /** `age` and `left` in seconds; undefined: asked now. */
  | {
      readonly kind: 'upstream-said';
      readonly rcode: string;
      readonly age: number | undefined;
      readonly left: number | undefined;
    }
  | { readonly kind: 'upstream-unreachable'; readonly servers: readonly string[] }
  | { readonly kind: 'forwarding-loop'; readonly servers: readonly string[] }
  | { readonly kind: 'not-forwarded'; readonly detail: string }
  /** The name is in the form of a service, in a domain that is not the one of this server's cluster. */
  | { readonly kind: 'foreign-cluster-domain'; readonly domain: string; readonly served: string };

export type ReasonKind = Reason['kind'];

/** Why a client does not see a name. */
export interface Hiding {
  /** The tenant of the namespace; undefined: the namespace is not listed. */
  readonly owner: string | undefined;
  /** The tenant of the client; undefined: it has none. */
  readonly client: string | undefined;
}

interface MaybeGone {
  /** RFC 3339: until when the service existed, as far as the server knows. Undefined: it never did, or nobody knows. */
  readonly existedUntil?: string;
}

interface OfService {
  readonly namespace: string;
  readonly service: string;
}
