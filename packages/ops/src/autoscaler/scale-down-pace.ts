/**
 * Limits the pace of scaling down: only after fewer replicas were wanted for a while, and only a few at once. Scaling up is
 * immediate.
 */
import type { ScaleDownPlan } from '@portolan/server/settings/autoscaler/autoscaler-plan.ts';

interface WantedReplicas {
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
  readonly replicas: number;
}

export class ScaleDownPace {
  readonly #plan: ScaleDownPlan;
  readonly #period: number;
  readonly #startedAt: number;
  /** In descending order: an entry stays only while later ones are lower. */
  #wanted: WantedReplicas[] = [];
  /** When each target was last scaled down. */
  readonly #scaledDown = new Map<string, number>();

  /**
   * @param period milliseconds in which a target may lose the maximum number of replicas
   * @param now milliseconds of the monotonic clock, here and below
   */
  constructor(plan: ScaleDownPlan, period: number, now: number) {
    this.#plan = plan;
    this.#period = period;
    this.#startedAt = now;
  }

  /** Records the number of replicas that the parameters give. */
  want(replicas: number, now: number): void {
    const oldest = now - this.#plan.delay;
    this.#wanted = this.#wanted.filter((each) => each.at >= oldest && each.replicas > replicas);
    this.#wanted.push({ at: now, replicas });
  }

  /** @returns the replicas for a target now: at least the number of the last call of `want` */
  allow(target: string, current: number, now: number): number {
    const wanted = this.#wanted.at(-1)?.replicas ?? current;
    if (wanted >= current) return wanted;
    // The wanted replicas before the start are unknown.
    if (now - this.#startedAt < this.#plan.delay) return current;
    const steady = Math.min(current, this.#wanted[0]?.replicas ?? current);
    const { maxReplicas } = this.#plan;
    if (maxReplicas === 0) return steady;
    const last = this.#scaledDown.get(target);
    if (last !== undefined && now - last < this.#period) return current;
    return Math.max(steady, current - maxReplicas);
  }

  /** Records that a target was scaled down. */
  scaledDown(target: string, now: number): void {
    this.#scaledDown.set(target, now);
  }
}
