/**
 * CoreDNS versions with different metric names: up to 1.6, and 1.7 to 1.10.
 */
export type FormerNames = (typeof FORMER_NAMES)[number];
export const FORMER_NAMES = ['1.6', '1.10'] as const;
