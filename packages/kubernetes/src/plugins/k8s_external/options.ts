/**
 * Zones with the addresses at which clients outside the cluster reach its services.
 */
import type { NameKey } from '@portolan/dns/types.ts';

export interface K8sExternalOptions {
  /** At least one; PTR records lead to names in the first. */
  readonly zones: readonly NameKey[];
  /** The labels, in lower case, below which the name server of each zone has its name. */
  readonly apex: string;
  /** Seconds, 0 to 3600. */
  readonly ttl: number;
  /** Whether headless services have the addresses of their endpoints. */
  readonly hasEndpoints: boolean;
  /** Zones in which missing names go to the next handler; empty: in none. */
  readonly fallthrough: readonly NameKey[];
}
