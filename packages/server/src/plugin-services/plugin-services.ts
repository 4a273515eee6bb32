/**
 * The services that a server offers to its plugins in addition to those of the engine.
 */
import { type OwnedService, ownService } from '@portolan/kernel/contract/owned-service.ts';
import { UPSTREAMS, WATCHES } from '@portolan/plugin';
import { LateWatches } from './late-watches.ts';
import { PluginUpstreams } from './upstreams.ts';

export const PLUGIN_SERVICES: readonly OwnedService[] = [
  ownService(UPSTREAMS, (user) => {
    const upstreams = new PluginUpstreams(user);
    return { value: upstreams, stop: () => upstreams.stop() };
  }),
  ownService(WATCHES, (user) => {
    const watches = new LateWatches(user);
    return { value: watches, stop: () => watches.stop() };
  }),
];
