/**
 * CoreDNS versions with different metric names: up to 1.6, 1.7 to 1.10, and those of today.
 */
export type FormerNames = (typeof FORMER_NAMES)[number];
export const FORMER_NAMES = ['1.6', '1.10', '1.14'] as const;
