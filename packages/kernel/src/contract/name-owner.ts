/**
 * How plugins find the plugin of their block that owns names, such as those of a cluster.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Query } from '@portolan/plugin';
import type { Handler } from '../chain/handler.ts';
import type { Plugin, PluginContext } from './plugin.ts';

/** A query, as far as an answer may depend on its client. */
export type ClientQuery = Pick<Query, 'dependOnClient' | 'forbidCaching'>;

export abstract class NameOwner implements Plugin {
  abstract readonly handler: Handler;
  /** Whether it answers a name, or denies it. @param query of a client who may see less than all. Default: all */
  abstract owns(name: NameKey, query?: ClientQuery): boolean;
}

/** Whether a plugin of the block owns a name. */
export function isOwned({ find }: Pick<PluginContext, 'find'>): NameOwner['owns'] {
  return (name, query) => find(NameOwner)?.owns(name, query) === true;
}
