/**
 * How plugins find the plugin of their block that owns names, such as those of a cluster.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Handler } from '../chain/handler.ts';
import type { Plugin, PluginContext } from './plugin.ts';

export abstract class NameOwner implements Plugin {
  abstract readonly handler: Handler;
  /** Whether it answers a name, or denies it. */
  abstract owns(name: NameKey): boolean;
}

/** Whether a plugin of the block owns a name. */
export function isOwned({ find }: Pick<PluginContext, 'find'>): (name: NameKey) => boolean {
  return (name) => find(NameOwner)?.owns(name) === true;
}
