/**
 * Names and addresses from a hosts file and from lines in the configuration.
 */
import type { NameKey } from '@portolan/dns/types.ts';

export interface HostsOptions {
  /** As given, behind the path of `root` if it is relative. It may be missing, now or later. */
  readonly path: string;
  /** Names below one of these are answered. */
  readonly zones: readonly NameKey[];
  /** Lines as in the file. */
  readonly inline: readonly string[];
  /** Seconds, 1 to 65,535. */
  readonly ttl: number;
  /** Whether addresses are answered with their names. */
  readonly hasReverse: boolean;
  /** Milliseconds between two checks of the file; 0: it is never checked again. */
  readonly reload: number;
  /** Zones in which missing names go to the next handler; empty: in none. */
  readonly fallthrough: readonly NameKey[];
  /** Whether types other than A, AAAA and PTR of a known name go to the next handler too. */
  readonly fallsThroughUnsupported: boolean;
}
