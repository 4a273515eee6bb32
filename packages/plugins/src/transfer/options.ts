/**
 * Who may have whole zones, and who is notified of their changes.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { SocketAddress } from '@portolan/kernel/socket/addresses.ts';

export interface TransferOptions {
  /** For a zone, the rule with the longest zone that contains it counts. */
  readonly rules: readonly TransferRule[];
}

export interface TransferRule {
  readonly zones: readonly NameKey[];
  /** Whether everybody may have the zones. */
  readonly toAll: boolean;
  /** The secondary servers: they may have the zones, and are notified at these ports. */
  readonly secondaries: readonly SocketAddress[];
  /** The address that notifications come from; undefined: the system's choice. */
  readonly source: string | undefined;
  /** The name of a key of `tsig` in the block that signs notifications; undefined: they are not signed. */
  readonly key?: NameKey | undefined;
}
