/**
 * The CoreDNS version that Portolan reports at start and in class CHAOS.
 */
export const COREDNS_VERSION = '1.14.7';

/** The CoreDNS version whose plugin order is used. */
export type OrderProfile = (typeof ORDER_PROFILES)[number];
export const ORDER_PROFILES = ['1.13', '1.14'] as const;
