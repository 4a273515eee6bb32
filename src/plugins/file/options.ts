/**
 * Zones from master files (RFC 1035 section 5).
 */
import type { NameKey } from '../../wire/types.ts';

export interface FileOptions {
  /** A zone named twice has the file named last. */
  readonly zones: readonly FileZone[];
  /** Zones in which missing names go to the next handler; empty: in none. */
  readonly fallthrough: readonly NameKey[];
}

export interface FileZone {
  readonly origin: NameKey;
  /** As given, behind the path of `root` if it is relative. */
  readonly path: string;
  /** How often the file is looked at: milliseconds; 0: never again. */
  readonly reload: number;
  /** A newer file counts although the serial of its SOA is the same. */
  readonly reloadByMtime: boolean;
}
