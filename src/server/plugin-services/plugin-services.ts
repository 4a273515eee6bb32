/**
 * The services that a server offers to its plugins in addition to those of the engine.
 */
import { UPSTREAMS, WATCHES, type Watch, type WatchedKind, type Watches } from '@portolan/plugin';
import type { Log, LogLevel } from '../../base/log.ts';
import { type OwnedService, ownService, type ServiceUser } from '../../contract/owned-service.ts';
import { PluginUpstreams } from './upstreams.ts';
import type { PluginWatches } from './watches.ts';

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

/** Few plugins follow a cluster by themselves: the code for it is loaded for the first. */
class LateWatches implements Watches {
  readonly #user: ServiceUser;
  #made: Promise<PluginWatches> | undefined;

  constructor(user: ServiceUser) {
    this.#user = user;
  }

  async follow<Value>(kind: WatchedKind<Value>, changed: () => void): Promise<Watch<Value>> {
    this.#made ??= this.#make();
    return await (await this.#made).follow(kind, changed);
  }

  async stop(): Promise<void> {
    await (await this.#made)?.stop();
  }

  async #make(): Promise<PluginWatches> {
    const { name, clock, log } = this.#user;
    const { PluginWatches: Made } = await import('./watches.ts');
    return new Made({ clock, environment: process.env, log: nameLines(name, log) });
  }
}

/** Lines of a watch say which plugin follows. */
function nameLines(name: string, log: Log): Log {
  const line =
    (level: LogLevel): Log[LogLevel] =>
    (message, fields) =>
      log[level](`plugin/${name}: ${message}`, fields);
  return { error: line('error'), warn: line('warn'), info: line('info'), debug: line('debug') };
}
