/**
 * The statistics and metrics of the autoscaler.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { type MetricFamily, one, type Sample, singleFamily } from '@portolan/kernel/base/metrics/family.ts';
import type { NodeCounts } from '@portolan/kubernetes/objects/node-counts.ts';
import type { PollResult } from './poll.ts';

export type LastPoll =
  | { readonly kind: 'none' }
  | { readonly kind: 'good' }
  | { readonly kind: 'failed'; readonly reason: string };

const PREFIX = 'portolan_autoscaler';

export class AutoscalerStats {
  readonly #clock: Clock;
  #lastPoll: LastPoll = { kind: 'none' };
  #lastPollAt: number | undefined;
  #failuresInARow = 0;
  #polls = 0;
  #failedPolls = 0;
  #counts: NodeCounts | undefined;
  #wanted: number | undefined;
  readonly #current = new Map<string, number>();
  readonly #scalings = new Map<string, { up: number; down: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get lastPoll(): LastPoll {
    return this.#lastPoll;
  }

  get failuresInARow(): number {
    return this.#failuresInARow;
  }

  note({ counts, wanted, scalings, errors }: PollResult): void {
    const isGood = errors.length === 0;
    this.#lastPoll = isGood ? { kind: 'good' } : { kind: 'failed', reason: errors.join('; ') };
    this.#lastPollAt = this.#clock.now();
    this.#polls += 1;
    this.#failedPolls += isGood ? 0 : 1;
    this.#failuresInARow = isGood ? 0 : this.#failuresInARow + 1;
    this.#counts = counts ?? this.#counts;
    this.#wanted = wanted;
    this.#current.clear();
    for (const [target, { before, after, isWritten }] of scalings) {
      this.#current.set(target, isWritten ? after : before);
      const counted = this.#scalings.get(target) ?? { up: 0, down: 0 };
      this.#scalings.set(target, counted);
      if (isWritten) counted[after > before ? 'up' : 'down'] += 1;
    }
  }

  /** The metrics of now. @param isLeader whether this instance scales */
  families(isLeader: boolean): readonly MetricFamily[] {
    return [...this.#sizeFamilies(), ...this.#pollFamilies(isLeader), ...this.#targetFamilies()];
  }

  #sizeFamilies(): readonly MetricFamily[] {
    const counts = this.#counts;
    return [
      gauge('nodes', 'Nodes that match --nodelabels.', counts?.nodes),
      gauge('schedulable_nodes', 'Those of them that are ready and not cordoned.', counts?.schedulableNodes),
      gauge('cores', 'Allocatable processors of the nodes, rounded up.', counts?.cores),
      gauge(
        'schedulable_cores',
        'Allocatable processors of the schedulable nodes, rounded up.',
        counts?.schedulableCores,
      ),
    ];
  }

  #pollFamilies(isLeader: boolean): readonly MetricFamily[] {
    const at = this.#lastPollAt;
    const isGood = this.#lastPoll.kind === 'none' ? undefined : Number(this.#lastPoll.kind === 'good');
    return [
      gauge('wanted_replicas', 'Replicas that the parameters ask for.', this.#wanted),
      gauge('last_poll_success', '1 if the last poll went well, 0 if not.', isGood),
      gauge(
        'last_poll_timestamp_seconds',
        'When the last poll ended, in seconds since 1970.',
        at === undefined ? undefined : at / 1000,
      ),
      gauge('leader', '1 if this instance scales, 0 while another does.', Number(isLeader)),
      counter('polls_total', 'Polls.', one(this.#polls)),
      counter('poll_errors_total', 'Polls that failed.', one(this.#failedPolls)),
    ];
  }

  #targetFamilies(): readonly MetricFamily[] {
    const current = Array.from(this.#current, ([target, replicas]): Sample => [{ target }, replicas]);
    const scalings = [...this.#scalings].flatMap(([target, { up, down }]): readonly Sample[] => [
      [{ target, direction: 'up' }, up],
      [{ target, direction: 'down' }, down],
    ]);
    return [
      {
        name: `${PREFIX}_current_replicas`,
        help: 'Replicas that a target is set to, after the last poll.',
        type: 'gauge',
        read: () => current,
      },
      counter('scalings_total', 'Times that a target was given other replicas.', scalings),
    ];
  }
}

function gauge(name: string, help: string, value: number | undefined): MetricFamily {
  return singleFamily('gauge', `${PREFIX}_${name}`, help, value);
}

function counter(name: string, help: string, samples: readonly Sample[]): MetricFamily {
  return { name: `${PREFIX}_${name}`, help, type: 'counter', read: () => samples };
}
