/**
 * Questions that go to other servers by gRPC.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { TlsTrustPaths } from '@portolan/kernel/forward/tls-trust-files.ts';

/** Where a server listens. */
export type GrpcPlace =
  /** `port` 0: it cannot be asked. */
  | { readonly kind: 'address'; readonly address: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

export type GrpcPolicy = 'random' | 'round_robin' | 'sequential';

export interface GrpcOptions {
  /** Names below it are asked for. */
  readonly from: NameKey;
  /** Names below these are not asked for, but for `from` itself. */
  readonly except: readonly NameKey[];
  /** 1 to 15, in the order given. */
  readonly servers: readonly GrpcPlace[];
  /** Undefined: connections are not encrypted. */
  readonly tls: (TlsTrustPaths & { readonly serverName: string | undefined }) | undefined;
  /** The order in which servers are asked. */
  readonly policy: GrpcPolicy;
  /** Zones whose denials and failures go to the next plugin. */
  readonly fallthrough: readonly NameKey[];
}
