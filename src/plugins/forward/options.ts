/**
 * Questions that go to other servers.
 */
import type { NameKey } from '../../wire/types.ts';

export interface ForwardOptions {
  /** The first whose zone fits a name is asked; what it hands on goes to the next that fits. At least one. */
  readonly forwards: readonly ForwardRule[];
}

export interface ForwardRule {
  /** Names below it are forwarded. */
  readonly from: NameKey;
  /** 1 to 15, in the order given. */
  readonly upstreams: readonly ForwardUpstream[];
  /** Names below these are not forwarded. */
  readonly except: readonly NameKey[];
  /** Queries go over TCP, whatever the client uses. */
  readonly forceTcp: boolean;
  /** Queries go over UDP first, and over TCP when the answer is truncated. */
  readonly preferUdp: boolean;
  /** How TCP is used beyond what a Corefile can say. Nothing: as in CoreDNS. */
  readonly streams?: ForwardStreams;
  /** How long an idle connection is kept: milliseconds. */
  readonly expire: number;
  /** How old a connection may get: milliseconds; 0: any age. */
  readonly maxAge: number;
  /** Idle connections to one upstream; 0: any number. */
  readonly maxIdleConnections: number;
  /** Milliseconds. */
  readonly readTimeout: number;
  /** More failures in a row than this take an upstream out; 0: it is never checked. */
  readonly maxFails: number;
  /** Connections tried for one query; 0: any number. Nothing: twice as many as there are upstreams. */
  readonly maxConnectAttempts: number | undefined;
  readonly tls: ForwardTls;
  readonly policy: 'random' | 'round_robin' | 'sequential';
  readonly healthCheck: ForwardHealthCheck;
  /** Queries under way at once, beyond which REFUSED is answered; 0: any number. */
  readonly maxConcurrent: number;
  /** Response codes with which the next rule is asked. */
  readonly nextRcodes: readonly number[];
  /** An answer without data asks the next rule too. */
  readonly nextOnNoData: boolean;
  /** Response codes with which the next upstream is asked. */
  readonly failoverRcodes: readonly number[];
  /** SERVFAIL at once while no upstream is healthy, rather than asking one all the same. */
  readonly failsFast: boolean;
  readonly dohMethod: 'POST' | 'GET';
  /** The address that queries are sent from. */
  readonly sourceAddress: string | undefined;
  /** Servers that resolve upstreams given by name, as `address` or `address:port`; none: those of the system. */
  readonly resolvers: readonly string[];
}

export interface ForwardStreams {
  /** Whether queries that must go over TCP go over UDP while TCP does not get through. */
  readonly fallsBackToUdp: boolean;
  /** Connections that queries under way at once are spread over, 1 to 4. */
  readonly minConnections: number;
}

export type ForwardScheme = 'dns' | 'tls' | 'https';

export type ForwardUpstream =
  | {
      readonly kind: 'address';
      readonly scheme: ForwardScheme;
      /** Without brackets, with a zone (`%eth0`) where one was given. */
      readonly address: string;
      readonly port: number;
      /** The name its certificate must have, as given behind `%`. */
      readonly serverName: string | undefined;
    }
  | {
      /** Resolved at start. */
      readonly kind: 'name';
      readonly scheme: ForwardScheme;
      readonly name: string;
      readonly port: number;
      readonly serverName: string | undefined;
    }
  /** The name servers of a file in the form of resolv.conf. */
  | { readonly kind: 'file'; readonly path: string };

export interface ForwardTls {
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  /** Paths of files, as all of these. Nothing: the certificate authorities of the system. */
  readonly authorities: string | undefined;
  /** The name that certificates of all upstreams must have. */
  readonly serverName: string | undefined;
}

export interface ForwardHealthCheck {
  /** Milliseconds between checks of an upstream that failed; 0: none. */
  readonly interval: number;
  readonly recursionDesired: boolean;
  /** The name asked for, with the type NS. */
  readonly domain: NameKey;
}
