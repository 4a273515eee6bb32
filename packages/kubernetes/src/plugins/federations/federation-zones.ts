/**
 * The federations that the cluster belongs to. Its knowledge of nodes outlives plans.
 */
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import type { Plugin, PluginContext } from '@portolan/kernel/contract/plugin.ts';
import { RefCounted } from '@portolan/kernel/contract/ref-counted.ts';
import type { WatchStats } from '../../api/list-watch/state.ts';
import { requireCluster } from '../kubernetes/block-cluster.ts';
import { createFederationHandler } from './federation.ts';
import { Federations, type FollowNodes } from './federations.ts';
import type { FederationsOptions } from './options.ts';

/** The watch of nodes, as the caller sees it. */
export interface NodeWatch {
  status(): WatchStats;
  stop(): Promise<void>;
}

/** Notifies the current plan when the names of federations change. */
interface FollowedFederations {
  readonly federations: Federations<NodeWatch>;
  changed: () => boolean;
}

export class FederationZones implements Plugin {
  readonly #lasting: RefCounted<FollowedFederations>;
  readonly #options: FederationsOptions;
  readonly #context: PluginContext;
  #handler: Handler | undefined;

  constructor(options: FederationsOptions, context: PluginContext, former: FederationZones | undefined) {
    this.#options = options;
    this.#context = context;
    const lasting = former === undefined ? lastingFederations(options, context.changed) : former.#lasting;
    this.#lasting = lasting.retain();
  }

  /** Created when the block is complete: the cluster's plugin comes later. */
  get handler(): Handler {
    const { clock, log } = this.#context;
    this.#handler ??= createFederationHandler({
      federations: this.#federations,
      cluster: requireCluster(this.#context),
      clock,
      log,
    });
    return this.#handler;
  }

  follow(): void {
    this.#lasting.value.changed = this.#context.changed;
    this.#federations.replace(this.#options.federations);
  }

  /** From now on, follows nodes while they are needed. */
  followNodes(follow: FollowNodes<NodeWatch>): void {
    this.#federations.start(follow);
  }

  /** The watch of nodes, if it runs. */
  get following(): NodeWatch | undefined {
    return this.#federations.following;
  }

  /** Stops following nodes. */
  leaveNodes(): Promise<void> {
    return this.#federations.stop();
  }

  stop(): Promise<void> {
    return this.#lasting.release();
  }

  get #federations(): Federations<NodeWatch> {
    return this.#lasting.value.federations;
  }
}

function lastingFederations(
  { domain }: FederationsOptions,
  changed: FollowedFederations['changed'],
): RefCounted<FollowedFederations> {
  const followed: FollowedFederations = {
    federations: new Federations(domain, () => void followed.changed()),
    changed,
  };
  return new RefCounted(followed, ({ federations }) => federations.stop());
}
