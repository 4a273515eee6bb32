/**
 * One poll: reads the parameters and the size of the cluster, and scales each target accordingly.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { type RestClient, RestError } from '@portolan/kubernetes/api/rest/rest-client.ts';
import type { NodeCounts } from '@portolan/kubernetes/objects/node-counts.ts';
import type { AutoscalerPlan } from '@portolan/server/settings/autoscaler/autoscaler-plan.ts';
import { readParameters } from '@portolan/server/settings/autoscaler/parameters.ts';
import type { ScaleTarget } from '@portolan/server/settings/autoscaler/scale-targets.ts';
import { decideReplicas } from './decide.ts';
import { fetchParameters } from './parameters-source.ts';
import { type Scaling, scale } from './scale-client.ts';
import { ScaleDownPace } from './scale-down-pace.ts';
import { findScalePlace, type ScalePlace } from './scale-place.ts';
import { ScalingEvents } from './scaling-events.ts';

export interface PollerDependencies {
  readonly rest: RestClient;
  readonly countNodes: () => Promise<NodeCounts>;
  /** Whether this instance may write now. */
  readonly isLeader: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** The results of a poll, as far as it succeeded. */
export interface PollResult {
  readonly data: ReadonlyMap<string, string> | undefined;
  readonly counts: NodeCounts | undefined;
  /** The replicas that follow from the parameters. */
  readonly wanted: number | undefined;
  /** By the target's text. */
  readonly scalings: ReadonlyMap<string, Scaling>;
  /** Empty if all went well. */
  readonly errors: readonly string[];
}

export class Poller {
  readonly #plan: AutoscalerPlan;
  readonly #dependencies: PollerDependencies;
  readonly #pace: ScaleDownPace;
  readonly #events: ScalingEvents;
  /** The places of targets that are already known. */
  readonly #places = new Map<ScaleTarget, ScalePlace>();

  constructor(plan: AutoscalerPlan, dependencies: PollerDependencies) {
    this.#plan = plan;
    this.#dependencies = dependencies;
    const { rest, clock, log } = dependencies;
    this.#pace = new ScaleDownPace(plan.scaleDown, plan.pollPeriod, clock.monotonic());
    this.#events = new ScalingEvents(rest, plan.namespace, clock, log);
  }

  /** Never rejects: failures are in `errors`. After a failure of one target the others are still scaled. */
  async poll(): Promise<PollResult> {
    const { rest, countNodes, clock, log } = this.#dependencies;
    const scalings = new Map<string, Scaling>();
    let data: PollResult['data'];
    let counts: PollResult['counts'];
    let wanted: PollResult['wanted'];
    const errors: string[] = [];
    try {
      const fetched = await fetchParameters(rest, this.#plan);
      data = fetched.data;
      if (fetched.wasCreated) log.info('created the ConfigMap', { name: this.#plan.configMap });
      const parameters = readParameters(data);
      counts = await countNodes();
      wanted = decideReplicas(parameters, counts).replicas;
      this.#pace.want(wanted, clock.monotonic());
      for (const target of this.#plan.targets) await this.#scale(target, counts, scalings, errors);
    } catch (error) {
      errors.push(describeError(error));
    }
    return { data, counts, wanted, scalings, errors };
  }

  async #scale(
    target: ScaleTarget,
    counts: NodeCounts,
    scalings: Map<string, Scaling>,
    errors: string[],
  ): Promise<void> {
    const { rest, isLeader, clock } = this.#dependencies;
    try {
      const place = await this.#findPlace(target);
      const scaling = await scale(
        rest,
        place,
        (current) => this.#pace.allow(target.shown, current, clock.monotonic()),
        () => isLeader() && !this.#plan.isDryRun,
      );
      scalings.set(target.shown, scaling);
      if (scaling.isWritten || (this.#plan.isDryRun && scaling.before !== scaling.after))
        await this.#tell(target, place, scaling, counts);
    } catch (error) {
      // It may be served under another version now.
      if (error instanceof RestError && error.status === 404) this.#places.delete(target);
      errors.push(describeError(error));
    }
  }

  async #tell(target: ScaleTarget, place: ScalePlace, scaling: Scaling, counts: NodeCounts): Promise<void> {
    const { log, clock } = this.#dependencies;
    const { before: from, after: to, isWritten } = scaling;
    const { nodes, schedulableNodes, cores, schedulableCores } = counts;
    log.info(isWritten ? 'scaled' : 'would be scaled', {
      target: target.shown,
      from,
      to,
      nodes,
      schedulableNodes,
      cores,
      schedulableCores,
    });
    if (!isWritten) return;
    if (to < from) this.#pace.scaledDown(target.shown, clock.monotonic());
    const cause = `${schedulableNodes} of ${nodes} nodes and ${schedulableCores} of ${cores} cores take pods`;
    await this.#events.write(place, target.name, scaling, cause);
  }

  async #findPlace(target: ScaleTarget): Promise<ScalePlace> {
    const known = this.#places.get(target);
    if (known !== undefined) return known;
    const place = await findScalePlace(target, this.#plan.namespace, this.#dependencies.rest);
    this.#places.set(target, place);
    return place;
  }
}
