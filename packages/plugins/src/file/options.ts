/**
 * Zones from master files (RFC 1035 section 5).
 */
import type { NameKey } from '@portolan/dns/types.ts';

export interface FileOptions {
  /** If a zone is named twice, the last file counts. */
  readonly zones: readonly FileZone[];
  /** Zones in which missing names go to the next handler; empty: in none. */
  readonly fallthrough: readonly NameKey[];
}

export interface FileZone {
  readonly origin: NameKey;
  /** As given, behind the path of `root` if it is relative. */
  readonly path: string;
  /** Milliseconds between two checks of the file; 0: it is never checked again. */
  readonly reload: number;
  /** Whether a newer file is read even if the serial of its SOA record is the same. */
  readonly reloadByMtime: boolean;
}
