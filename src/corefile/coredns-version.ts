/**
 * The version of CoreDNS that is stood in for: what it prints at its start, and says of itself in class CHAOS.
 */
export const COREDNS_VERSION = '1.14.7';
