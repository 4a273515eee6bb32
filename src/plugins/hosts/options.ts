/**
 * Names and addresses from a hosts file and from lines in the configuration.
 */
import type { NameKey } from '../../wire/types.ts';

export interface HostsOptions {
  /** As given, behind the path of `root` if it is relative. It may be missing, now or later. */
  readonly path: string;
  /** Names below one of these are answered. */
  readonly zones: readonly NameKey[];
  /** Lines as in the file. */
  readonly inline: readonly string[];
  /** Seconds, 1 to 65,535. */
  readonly ttl: number;
  /** Addresses are answered with their names. */
  readonly hasReverse: boolean;
  /** How often the file is looked at: milliseconds; 0: never again. */
  readonly reload: number;
  /** Zones in which missing names go to the next handler; empty: in none. */
  readonly fallthrough: readonly NameKey[];
  /** Types other than A, AAAA and PTR of a name that is known go to the next handler too. */
  readonly fallsThroughUnsupported: boolean;
}
