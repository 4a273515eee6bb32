/**
 * The autoscaler: keeps the replicas of its targets in proportion to the cluster, for as long as it runs.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { OutageLog } from '@portolan/kernel/base/outage-log.ts';
import type { Connection } from '@portolan/kubernetes/api/connection/types.ts';
import { makeApiAccess } from '@portolan/kubernetes/api/list-watch/api-access.ts';
import { RestClient } from '@portolan/kubernetes/api/rest/rest-client.ts';
import type { AutoscalerPlan } from '@portolan/server/settings/autoscaler/autoscaler-plan.ts';
import { findParametersFault } from '@portolan/server/settings/autoscaler/default-parameters.ts';
import { AutoscalerStats } from './autoscaler-stats.ts';
import { FollowedConfigMap } from './followed-config-map.ts';
import { FollowedNodes } from './followed-nodes.ts';
import { LeaderElection } from './leader-election.ts';
import { Poller, type PollResult } from './poll.ts';
import { PollSchedule } from './poll-schedule.ts';

export interface AutoscalerDependencies {
  /** Connection to the API server; it stays open when the autoscaler stops. */
  readonly connection: Connection;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns numbers from 0 to below 1. Default: `Math.random`. */
  readonly random?: () => number;
  /** Identity of this instance in an election, unique per instance. */
  readonly identity: string;
}

export class Autoscaler {
  readonly stats: AutoscalerStats;
  /** Resolves once as many polls in a row have failed as the plan allows; never if the plan has no limit. */
  readonly failure: Promise<Error>;
  readonly #plan: AutoscalerPlan;
  readonly #log: Log;
  readonly #rest: RestClient;
  readonly #nodes: FollowedNodes;
  readonly #configMap: FollowedConfigMap;
  readonly #election: LeaderElection | undefined;
  readonly #schedule: PollSchedule;
  readonly #poller: Poller;
  readonly #outage: OutageLog;
  #fail: (error: Error) => void = () => {};
  /** The input of the last poll. */
  #polled: WatchNews = {};
  #seen: WatchNews = {};
  #isPolling = false;
  #hasNews = false;
  #running: Promise<void> | undefined;

  constructor(plan: AutoscalerPlan, dependencies: AutoscalerDependencies) {
    const { connection, clock, log, random = Math.random, identity } = dependencies;
    const { namespace, isDryRun } = plan;
    this.#plan = plan;
    this.#log = log;
    this.#rest = new RestClient(connection, clock);
    const api = makeApiAccess({ connection, clock, log, random });
    this.#nodes = new FollowedNodes(api, plan.nodeLabels, (counts) => this.#onNews({ counts }));
    this.#configMap = new FollowedConfigMap(api, namespace, plan.configMap, (data) => this.#onNews({ data }));
    this.#schedule = new PollSchedule(plan.pollPeriod, clock);
    const onElected = () => this.#schedule.restart();
    // A dry run changes nothing, so several instances may do it.
    if (plan.election !== undefined && !isDryRun)
      this.#election = new LeaderElection(plan.election, {
        rest: this.#rest,
        namespace,
        identity,
        clock,
        log,
        random,
        onElected,
      });
    this.#poller = new Poller(plan, {
      rest: this.#rest,
      countNodes: () => this.#nodes.count(),
      isLeader: () => this.isLeader,
      clock,
      log,
    });
    this.stats = new AutoscalerStats(clock);
    this.#outage = new OutageLog(log, clock, { failed: 'poll failed', ended: 'polls succeed again' });
    this.failure = new Promise((resolve) => {
      this.#fail = resolve;
    });
  }

  /** Whether this instance scales: always true without an election. */
  get isLeader(): boolean {
    return this.#election?.isLeader ?? true;
  }

  start(): void {
    const fault = this.#plan.defaultParameters && findParametersFault(this.#plan.defaultParameters);
    if (fault !== undefined) this.#log.warn('the default parameters cannot be used', { reason: fault });
    this.#nodes.start();
    this.#configMap.start();
    this.#election?.start();
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#schedule.stop();
    this.#rest.abort();
    await Promise.all([this.#nodes.stop(), this.#configMap.stop(), this.#running]);
    await this.#election?.stop();
  }

  async #run(): Promise<void> {
    while (await this.#schedule.next()) {
      if (!this.isLeader) continue;
      this.#isPolling = true;
      const result = await this.#poller.poll();
      this.#isPolling = false;
      // A failed read must not hurry the next poll.
      this.#polled = {
        data: result.data ?? this.#seen.data,
        counts: result.counts ?? this.#seen.counts,
      };
      if (this.#hasNews) this.#hurryIfNew();
      this.stats.note(result);
      this.#report(result);
    }
  }

  #report({ errors }: PollResult): void {
    const reason = errors.join('; ');
    if (errors.length === 0) this.#outage.ended();
    else this.#outage.failed(reason);
    const { maxSyncFailures } = this.#plan;
    const { failuresInARow } = this.stats;
    if (maxSyncFailures > 0 && failuresInARow >= maxSyncFailures)
      this.#fail(
        new Error(
          `${failuresInARow} polls in a row failed, as many as --max-sync-failures allows: ${reason}`,
        ),
      );
  }

  /** Called with news of a watch. During a poll the news is considered at the end of the poll. */
  #onNews(news: WatchNews): void {
    this.#seen = { ...this.#seen, ...news };
    if (this.#isPolling) this.#hasNews = true;
    else this.#hurryIfNew();
  }

  #hurryIfNew(): void {
    this.#hasNews = false;
    const { counts, data } = this.#seen;
    const isNew =
      (counts !== undefined && JSON.stringify(counts) !== JSON.stringify(this.#polled.counts)) ||
      ('data' in this.#seen && !isSameData(data, this.#polled.data));
    if (isNew && this.isLeader) this.#schedule.changed();
  }
}

/** The news of the watches; without `data` until it is known whether the ConfigMap exists. */
type WatchNews = Partial<Pick<PollResult, 'counts' | 'data'>>;

function isSameData(one: PollResult['data'], other: PollResult['data']): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.size === other.size && [...one].every(([key, text]) => other.get(key) === text);
}
