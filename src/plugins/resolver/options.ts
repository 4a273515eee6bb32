/**
 * The settings of `resolver`.
 */
import type { ResolverSettings } from './resolver.ts';

export type ResolverOptions = Omit<ResolverSettings, 'changes' | 'leavesAddresses' | 'mayExist'>;
