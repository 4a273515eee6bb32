/**
 * The settings of `resolver`.
 */
import type { Handler } from '../../chain/handler.ts';
import type { ResolverSettings } from '../../resolver/resolver.ts';

export interface ResolverOptions extends Omit<ResolverSettings, 'changes' | 'leavesAddresses' | 'mayExist'> {
  /** Decides which answers from upstream may be cached, beyond the caching rules; undefined: all. */
  readonly cacheFilter: Handler | undefined;
}
