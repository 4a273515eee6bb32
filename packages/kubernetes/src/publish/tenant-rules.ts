/**
 * How tenants of a cluster are kept apart, as settings say it.
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';

export interface TenantRules {
  /** The label of namespaces whose value is their tenant. Namespaces without it are shared. */
  readonly label: string;
  /** Clients that see all services. */
  readonly seenBy: readonly AddressRange[];
}

/** The only way to tell tenants apart. */
export const TENANT_RULE = 'by-namespace-label';
