/**
 * Watches the ConfigMap and reports possible changes. It stops if watching is not allowed: the permissions of the original only
 * allow a read at each poll.
 */
import type { Log } from '@portolan/kernel/base/log.ts';
import type { ApiAccess } from '@portolan/kubernetes/api/list-watch/api-access.ts';
import { followConfigMap } from '@portolan/kubernetes/api/list-watch/further-kinds.ts';
import type { Follower } from '@portolan/kubernetes/api/list-watch/reflector.ts';
import { ConfigMapSink } from '@portolan/kubernetes/objects/config-map-sink.ts';

/** Consecutive refusals after which it stops, some 10 s: a server that has just started may refuse a watch that it allows later. */
const MAX_REFUSALS = 5;

export class FollowedConfigMap {
  readonly #follower: Follower;
  readonly #log: Log;
  #refusals = 0;

  /** @param onChange called with the data whenever the ConfigMap may have changed; with undefined while it does not exist */
  constructor(
    api: ApiAccess,
    namespace: string,
    name: string,
    onChange: (data: ReadonlyMap<string, string> | undefined) => void,
  ) {
    this.#log = api.log;
    this.#follower = followConfigMap(api, namespace, name, new ConfigMapSink(name, onChange), () =>
      this.#review(),
    );
  }

  start(): void {
    this.#follower.start();
  }

  async stop(): Promise<void> {
    await this.#follower.stop();
  }

  #review(): void {
    const { state } = this.#follower.status();
    if (state.kind === 'watching') this.#refusals = 0;
    if (state.kind !== 'waiting' || state.reason.kind !== 'permission') return;
    this.#refusals += 1;
    if (this.#refusals !== MAX_REFUSALS) return;
    this.#log.info('the ConfigMap may not be watched: it is read at each poll only', {
      hint: 'Allow watch on it to have changes applied at once.',
    });
    void this.#follower.stop();
  }
}
