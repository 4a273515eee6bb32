/**
 * How fast a target may be scaled down: not before fewer replicas have been wanted for a while, and not by many at once. Up it
 * goes at once.
 */
import type { ScaleDownPlan } from '../../config/autoscaler/autoscaler-plan.ts';

interface Wanted {
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
  readonly replicas: number;
}

export class ScaleDownPace {
  readonly #plan: ScaleDownPlan;
  readonly #period: number;
  readonly #startedAt: number;
  /** Descending: of what was wanted, only what later is not exceeded counts. */
  #wanted: Wanted[] = [];
  /** When each target was scaled down last. */
  readonly #scaledDown = new Map<string, number>();

  /**
   * @param period milliseconds in which a target loses the most that it may
   * @param now milliseconds of the monotonic clock, here and below
   */
  constructor(plan: ScaleDownPlan, period: number, now: number) {
    this.#plan = plan;
    this.#period = period;
    this.#startedAt = now;
  }

  /** Notes the number of replicas that the parameters give. */
  want(replicas: number, now: number): void {
    const oldest = now - this.#plan.delay;
    this.#wanted = this.#wanted.filter((each) => each.at >= oldest && each.replicas > replicas);
    this.#wanted.push({ at: now, replicas });
  }

  /** @returns the replicas that a target may have now: not fewer than `want` was called with last */
  allow(target: string, current: number, now: number): number {
    const wanted = this.#wanted.at(-1)?.replicas ?? current;
    if (wanted >= current) return wanted;
    // What was wanted before the start is not known.
    if (now - this.#startedAt < this.#plan.delay) return current;
    const steady = Math.min(current, this.#wanted[0]?.replicas ?? current);
    const { maxReplicas } = this.#plan;
    if (maxReplicas === 0) return steady;
    const last = this.#scaledDown.get(target);
    if (last !== undefined && now - last < this.#period) return current;
    return Math.max(steady, current - maxReplicas);
  }

  /** Takes note that a target was scaled down. */
  scaledDown(target: string, now: number): void {
    this.#scaledDown.set(target, now);
  }
}
