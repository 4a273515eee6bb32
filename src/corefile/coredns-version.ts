/**
 * The version of CoreDNS that is stood in for: what it prints at its start, and says of itself in class CHAOS.
 */
export const COREDNS_VERSION = '1.14.7';

/** The version of CoreDNS whose order of plugins is kept to. */
export type OrderProfile = (typeof ORDER_PROFILES)[number];
export const ORDER_PROFILES = ['1.13', '1.14'] as const;
