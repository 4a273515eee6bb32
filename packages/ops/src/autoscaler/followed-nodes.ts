/**
 * The size of the cluster: by a watch of its nodes, or by lists if watching is not allowed.
 */
import type { ApiAccess } from '@portolan/kubernetes/api/list-watch/api-access.ts';
import {
  followNodeCapacities,
  listNodeCapacities,
} from '@portolan/kubernetes/api/list-watch/further-kinds.ts';
import type { Follower, KindStatus } from '@portolan/kubernetes/api/list-watch/reflector.ts';
import { countNodes, type NodeCounts, NodeCountsSink } from '@portolan/kubernetes/objects/node-counts.ts';

/** The nodes are unknown. */
export class NodesError extends Error {
  override readonly name = 'NodesError';
}

export class FollowedNodes {
  readonly #api: ApiAccess;
  readonly #labels: string;
  readonly #sink: NodeCountsSink;
  readonly #follower: Follower;
  #notify: () => void = () => {};
  #isStopped = false;

  /**
   * @param labels a label selector; empty for all nodes
   * @param onChange called with counts that differ from those before
   */
  constructor(api: ApiAccess, labels: string, onChange: (counts: NodeCounts) => void) {
    this.#api = api;
    this.#labels = labels;
    this.#sink = new NodeCountsSink(() => onChange(this.#sink.counts));
    this.#follower = followNodeCapacities(api, labels, this.#sink, () => this.#notify());
  }

  start(): void {
    this.#follower.start();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#notify();
    await this.#follower.stop();
  }

  /**
   * The current counts; while the API server is unreachable, the last known ones.
   *
   * @throws NodesError if the nodes were never known; ListWatchError if they may neither be watched nor listed
   */
  async count(): Promise<NodeCounts> {
    const status = await this.#settled();
    const { state } = status;
    if (state.kind === 'waiting' && state.reason.kind === 'permission')
      return countNodes(await listNodeCapacities(this.#api, this.#labels));
    if (!status.synced) throw new NodesError(`the nodes are not known: ${status.words}`);
    return this.#sink.counts;
  }

  /** The status once it is known whether the first list succeeds. */
  async #settled(): Promise<KindStatus> {
    for (;;) {
      const status = this.#follower.status();
      if (status.synced || status.state.kind === 'waiting' || this.#isStopped) return status;
      await new Promise<void>((resolve) => {
        this.#notify = resolve;
      });
    }
  }
}
