/**
 * The settings of `resolver`.
 */
import type { ResolverSettings } from '../../resolver/resolver.ts';

export type ResolverOptions = Omit<ResolverSettings, 'changes' | 'leavesAddresses' | 'mayExist'>;
