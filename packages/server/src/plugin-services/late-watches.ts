/**
 * Few plugins follow a cluster by themselves: the code for it is loaded for the first.
 */
import type { Log, LogLevel } from '@portolan/kernel/base/log.ts';
import type { ServiceUser } from '@portolan/kernel/contract/owned-service.ts';
import type { Watch, WatchedKind, Watches } from '@portolan/plugin';
import type { PluginWatches } from './watches.ts';

type WatchesCode = typeof import('./watches.ts');

export class LateWatches implements Watches {
  readonly #user: ServiceUser;
  readonly #load: () => Promise<WatchesCode>;
  #made: Promise<PluginWatches> | undefined;
  #isStopped = false;

  constructor(user: ServiceUser, load: () => Promise<WatchesCode> = () => import('./watches.ts')) {
    this.#user = user;
    this.#load = load;
  }

  /** @throws Error with the reason why there is no cluster, because the code cannot be loaded, or because the plugin has stopped */
  async follow<Value>(kind: WatchedKind<Value>, changed: () => void): Promise<Watch<Value>> {
    this.#checkRuns();
    const made = await this.#make();
    this.#checkRuns();
    return await made.follow(kind, changed);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    // A plugin whose code could not be loaded has nothing to end, and `follow` has told it.
    const made = await this.#made?.catch(() => undefined);
    await made?.stop();
  }

  #checkRuns(): void {
    if (this.#isStopped) throw new Error('the plugin has stopped, and follows nothing more');
  }

  /** A failure is not kept: the next call tries again. */
  async #make(): Promise<PluginWatches> {
    this.#made ??= this.#loadWatches();
    const made = this.#made;
    try {
      return await made;
    } catch (error) {
      if (this.#made === made) this.#made = undefined;
      throw error;
    }
  }

  async #loadWatches(): Promise<PluginWatches> {
    const { name, clock, log } = this.#user;
    const { PluginWatches: Made } = await this.#load();
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
