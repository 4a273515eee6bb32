/**
 * Shared secrets by which clients and this server sign messages (RFC 8945).
 */
import type { NameKey } from '@portolan/dns/types.ts';

export interface TsigOptions {
  /** Signatures of questions about names in these zones are verified. */
  readonly zones: readonly NameKey[];
  readonly keys: readonly NamedSecret[];
  /** Keys whose secret is not in base64: no signature by one of them is valid. */
  readonly unusable: readonly NameKey[];
  /** Types whose questions must be signed. */
  readonly types: 'all' | ReadonlySet<number>;
  /** Opcodes whose messages must be signed. */
  readonly opcodes: 'all' | ReadonlySet<number>;
}

export interface NamedSecret {
  readonly name: NameKey;
  readonly secret: Uint8Array;
  /** For messages that this server signs first. */
  readonly algorithm: NameKey;
}
