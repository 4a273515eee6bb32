/**
 * Where messages of dnstap go, and what they hold.
 */
import type { TlsOptions } from '@portolan/kernel/listen/secure/tls-identity.ts';

export interface DnstapOptions {
  /** In the order of the Corefile: each gets all messages. */
  readonly taps: readonly TapOptions[];
}

export interface TapOptions {
  readonly endpoint: TapEndpoint;
  /** Collectors connect to the endpoint. Undefined: the endpoint is a collector. */
  readonly listens?: TapListenOptions | undefined;
  /** Whether messages hold the DNS messages. */
  readonly isFull: boolean;
  /** The most messages that wait to be sent. */
  readonly maxQueued: number;
  /** The most octets that wait to be sent. */
  readonly maxOctets: number;
  /** Undefined: the host's name. */
  readonly identity: string | undefined;
  /** Undefined: the version of CoreDNS that this server replaces. */
  readonly version: string | undefined;
  /** Text with words in braces, as in `log`; undefined: none. */
  readonly extra: string | undefined;
}

export interface TapListenOptions {
  /** Only for `tls`. */
  readonly certificate: TlsOptions | undefined;
}

export type TapEndpoint =
  | { readonly kind: 'unix'; readonly path: string }
  | {
      readonly kind: 'tcp' | 'tls';
      readonly host: string;
      readonly port: number;
      /** Whether to take any certificate; only for `tls`. */
      readonly skipsVerification: boolean;
    };
