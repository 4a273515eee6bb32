/**
 * The kinds of object that a plugin follows on API servers. They end with the plugin.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { findCluster } from '@portolan/kubernetes/api/connection/find-cluster.ts';
import type { Connection } from '@portolan/kubernetes/api/connection/types.ts';
import { makeApiAccess } from '@portolan/kubernetes/api/list-watch/api-access.ts';
import { followOther } from '@portolan/kubernetes/api/list-watch/further-kinds.ts';
import type { Follower, KindStatus } from '@portolan/kubernetes/api/list-watch/reflector.ts';
import { OtherObjects } from '@portolan/kubernetes/objects/other-objects.ts';
import type { Watch, WatchedKind, Watches } from '@portolan/plugin';

/** Milliseconds: events within this time are one change, as for the names of a cluster. */
const CHANGE_INTERVAL = 10;

export interface PluginWatchesDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export class PluginWatches implements Watches {
  readonly #dependencies: PluginWatchesDependencies;
  readonly #followers: Follower[] = [];
  readonly #connections = new Map<string, Promise<Connection>>();
  readonly #timers = new Set<Timer>();
  #isStopped = false;

  constructor(dependencies: PluginWatchesDependencies) {
    this.#dependencies = { ...dependencies, log: withoutAbsence(dependencies.log) };
  }

  /** @throws Error with the reason why there is no cluster, or because the plugin has stopped */
  async follow<Value>(kind: WatchedKind<Value>, changed: () => void): Promise<Watch<Value>> {
    const { clock, log } = this.#dependencies;
    const connection = await this.#connect(kind.kubeconfig);
    if (this.#isStopped) throw new Error('the plugin has stopped');
    const tell = this.#together(changed);
    const objects = new OtherObjects(tell);
    const api = makeApiAccess({ connection, clock, log });
    const follower = followOther(api, kind, (object) => kind.read(object), objects, tell);
    this.#followers.push(follower);
    follower.start();
    return {
      // What `read` of the same kind has returned.
      get objects() {
        return objects.values as ReadonlyMap<string, Value>;
      },
      get state() {
        return toWatchState(follower.status());
      },
    };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#timers) timer.cancel();
    await Promise.all(this.#followers.map((follower) => follower.stop()));
    for (const opened of await Promise.allSettled(this.#connections.values()))
      if (opened.status === 'fulfilled') opened.value.close();
  }

  /** One connection for each cluster. */
  #connect(kubeconfig: WatchedKind<unknown>['kubeconfig']): Promise<Connection> {
    const key = JSON.stringify([kubeconfig?.file, kubeconfig?.context]);
    const known = this.#connections.get(key);
    if (known !== undefined) return known;
    const opened = openConnectionTo(kubeconfig, this.#dependencies);
    this.#connections.set(key, opened);
    return opened;
  }

  /** Calls a listener once for all changes within a short time. */
  #together(changed: () => void): () => void {
    let timer: Timer | undefined;
    return () => {
      if (timer !== undefined || this.#isStopped) return;
      const due = this.#dependencies.clock.after(CHANGE_INTERVAL, () => {
        this.#timers.delete(due);
        timer = undefined;
        this.#call(changed);
      });
      timer = due;
      this.#timers.add(due);
    };
  }

  #call(changed: () => void): void {
    try {
      changed();
    } catch (error) {
      // A mistake of the plugin must not end the watch.
      this.#dependencies.log.error('a listener of the cluster watch failed', { reason: String(error) });
    }
  }
}

/** @throws Error, ClusterConfigurationError */
async function openConnectionTo(
  kubeconfig: WatchedKind<unknown>['kubeconfig'],
  { clock, environment }: PluginWatchesDependencies,
): Promise<Connection> {
  const found = await findCluster({
    kubecfgFile: kubeconfig?.file,
    context: kubeconfig?.context,
    // Never use the user's own kubeconfig.
    environment: { ...environment, KUBECONFIG: undefined },
    home: undefined,
    clock,
  });
  if (found.kind === 'connection') return found;
  throw new Error(`no API server: ${found.lookedFor.join('; ')}`);
}

function toWatchState({ synced, state }: KindStatus): Watch<unknown>['state'] {
  if (synced) return 'followed';
  const isAbsent =
    state.kind === 'waiting' && (state.reason.kind === 'missing-kind' || state.reason.kind === 'permission');
  return isAbsent ? 'absent' : 'listing';
}

/** A kind that the server does not have is no outage: a plugin may ask for kinds that only some clusters have. */
function withoutAbsence(log: Log): Log {
  return {
    error: (message, fields) => log.error(message, fields),
    warn: (message, fields) => {
      if (fields?.['state'] === 'missing-kind') log.info('the API server does not have it', fields);
      // Each version of a kind that is absent is refused.
      else if (fields?.['state'] === undefined && fields?.['path'] !== undefined) log.debug(message, fields);
      else log.warn(message, fields);
    },
    info: (message, fields) => log.debug(message, fields),
    debug: (message, fields) => log.debug(message, fields),
  };
}
