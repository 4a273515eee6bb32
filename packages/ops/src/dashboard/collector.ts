/**
 * Follows the replicas while somebody looks at the dashboard, and not a moment longer: then each of them counts its queries for `top`.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Diagnosis } from '@portolan/server/reasons/finding.ts';
import type { ServerStatus } from '../control/status.ts';
import { NameComparison } from './compare-names.ts';
import { changesBetween, compareReplicas } from './compare-replicas.ts';
import {
  groupFailures,
  judgeHealth,
  mergeFindings,
  mergeSeries,
  mergeTraffic,
  type Point,
  type ReplicaSample,
  toPoint,
} from './merge-replicas.ts';
import type { Change, Health, PageState, ReplicaState } from './page-state.ts';
import type { FindReplicas, ShownReplica } from './replica.ts';
import { readDiagnosis, readStatus, readTop } from './replica-answers.ts';

/** Milliseconds between two requests of a kind. A status over `kubectl exec` starts a process in the pod. */
export interface Pace {
  readonly status: number;
  readonly doctor: number;
  readonly find: number;
  /** Of `top`. */
  readonly interval: number;
}

export const USUAL_PACE: Pace = { status: 10_000, doctor: 60_000, find: 30_000, interval: 2_000 };

/** Milliseconds after the last look until nothing is asked any more. */
const IDLE_AFTER = 15_000;
/** Milliseconds of queries in the tables, and in the plot. */
const TABLES_SHOW = 60_000;
const PLOT_SHOWS = 15 * 60_000;
const ROWS = 50;
const MAX_CHANGES = 500;
export const MAX_REPLICAS = 32;

interface FollowedReplica {
  readonly replica: ShownReplica;
  readonly abort: AbortController;
  status?: ServerStatus;
  diagnosis?: Diagnosis;
  error?: string;
}

export class Collector {
  readonly #find: FindReplicas;
  readonly #clock: Clock;
  readonly #pace: Pace;
  #followed = new Map<string, FollowedReplica>();
  #abort: AbortController | undefined;
  #idle: Timer | undefined;
  readonly #names = new NameComparison();
  #samples: ReplicaSample[] = [];
  #points: Point[] = [];
  #changes: Change[] = [];
  #findError: string | undefined;
  #health: Health | undefined;
  #hasFound = false;

  constructor(find: FindReplicas, clock: Clock, pace: Pace = USUAL_PACE) {
    this.#find = find;
    this.#clock = clock;
    this.#pace = pace;
  }

  /** The state now. Looking begins to follow the replicas. */
  look(): PageState {
    this.keepFollowing();
    return this.#state();
  }

  /** Somebody looks: follows the replicas, until nobody has looked for a while. */
  keepFollowing(): void {
    this.#idle?.cancel();
    this.#idle = this.#clock.after(IDLE_AFTER, () => this.stop());
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      void this.#repeat(this.#pace.find, this.#abort.signal, (signal) => this.#findReplicas(signal));
      void this.#repeat(this.#pace.status, this.#abort.signal, (signal) => this.#compareNames(signal));
    }
  }

  /** Those that were found. */
  get replicas(): readonly ShownReplica[] {
    return [...this.#followed.values()].map(({ replica }) => replica);
  }

  /** Whether replicas are asked at the moment. */
  get isFollowing(): boolean {
    return this.#abort !== undefined;
  }

  /** Asks nothing any more, until the next look. */
  stop(): void {
    this.#idle?.cancel();
    this.#abort?.abort();
    this.#abort = undefined;
    for (const { abort } of this.#followed.values()) abort.abort();
    this.#followed = new Map();
  }

  async #findReplicas(signal: AbortSignal): Promise<void> {
    let found: readonly ShownReplica[];
    try {
      found = (await this.#find(signal)).slice(0, MAX_REPLICAS);
      this.#findError = undefined;
    } catch (error) {
      this.#findError = describeError(error);
      return;
    }
    if (signal.aborted) return;
    for (const [name, { abort }] of this.#followed)
      if (!found.some((each) => each.name === name)) {
        abort.abort();
        this.#followed.delete(name);
        this.#note(name, 'replica', 'is gone');
      }
    for (const replica of found)
      if (!this.#followed.has(replica.name)) {
        if (this.#hasFound) this.#note(replica.name, 'replica', 'is new');
        this.#follow(replica);
      }
    this.#hasFound = true;
  }

  #follow(replica: ShownReplica): void {
    const followed: FollowedReplica = { replica, abort: new AbortController() };
    const { signal } = followed.abort;
    this.#followed.set(replica.name, followed);
    void this.#repeat(this.#pace.status, signal, () => this.#askStatus(followed));
    void this.#repeat(this.#pace.doctor, signal, () => this.#diagnose(followed));
    // A stream that ends begins again.
    void this.#repeat(this.#pace.interval, signal, () => this.#watchTop(followed));
  }

  async #compareNames(signal: AbortSignal): Promise<void> {
    const replicas = new Map([...this.#followed].map(([name, { replica }]) => [name, replica]));
    await this.#names.compare(this.#replicaStates(), replicas, signal);
  }

  #replicaStates(): readonly ReplicaState[] {
    return [...this.#followed.values()].map(({ replica: { name }, status, error }) => ({
      name,
      status,
      error,
      rate: this.#points.findLast((point) => point.replica === name)?.queries,
    }));
  }

  async #askStatus(followed: FollowedReplica): Promise<void> {
    const { replica, abort } = followed;
    const former = followed.status;
    try {
      for await (const data of replica.ask({ verb: 'status', words: [] }, abort.signal)) {
        const status = readStatus(data);
        if (followed.error !== undefined) this.#note(replica.name, 'replica', 'answers again');
        delete followed.error;
        followed.status = status;
        this.#add(changesBetween(replica.name, former, status, this.#now()));
      }
    } catch (error) {
      const reason = describeError(error);
      if (followed.error === undefined) this.#note(replica.name, 'replica', `cannot be asked: ${reason}`);
      followed.error = reason;
      delete followed.status;
    }
  }

  async #diagnose(followed: FollowedReplica): Promise<void> {
    const { replica, abort } = followed;
    const former = followed.diagnosis;
    for await (const data of replica.ask({ verb: 'doctor', words: [] }, abort.signal)) {
      const diagnosis = readDiagnosis(data);
      followed.diagnosis = diagnosis;
      const toFindingKey = ({ kind, subject }: { kind: string; subject: string }) => `${kind} ${subject}`;
      const before = new Set(former?.findings.map(toFindingKey));
      const after = new Set(diagnosis.findings.map(toFindingKey));
      for (const finding of diagnosis.findings)
        if (former !== undefined && !before.has(toFindingKey(finding)))
          this.#note(replica.name, 'finding', `${finding.kind}: ${finding.sentence}`);
      for (const finding of former?.findings ?? [])
        if (!after.has(toFindingKey(finding)))
          this.#note(replica.name, 'finding', `${finding.kind} of ${finding.subject} is over`);
    }
  }

  async #watchTop({ replica, abort }: FollowedReplica): Promise<void> {
    const words = [`interval=${this.#pace.interval}ms`, `rows=${ROWS}`];
    for await (const data of replica.ask({ verb: 'top', words }, abort.signal)) {
      const snapshot = readTop(data);
      // What was before somebody looked is no interval of the plot.
      if (snapshot.isPast) continue;
      const sample = { replica: replica.name, at: this.#clock.now(), snapshot };
      this.#samples.push(sample);
      this.#points.push(toPoint(sample));
      this.#forget();
    }
  }

  #forget(): void {
    const now = this.#clock.now();
    this.#samples = this.#samples.filter(({ at }) => at > now - TABLES_SHOW);
    this.#points = this.#points.filter(({ at }) => at > now - PLOT_SHOWS);
  }

  #state(): PageState {
    this.#forget();
    const traffic = mergeTraffic(this.#samples);
    const followed = [...this.#followed.values()];
    const diagnoses = followed.flatMap(({ replica, diagnosis }) =>
      diagnosis === undefined ? [] : [{ replica: replica.name, diagnosis }],
    );
    const findings = mergeFindings(diagnoses, this.#names.findings);
    const replicas = this.#replicaStates();
    const judged = judgeHealth(replicas, findings, traffic);
    const verdict =
      this.#findError === undefined
        ? judged
        : { word: 'unknown' as const, sentence: `Replicas cannot be listed: ${this.#findError}` };
    const since = this.#health?.word === verdict.word ? this.#health.since : this.#now();
    this.#health = { ...verdict, since };
    return {
      at: this.#now(),
      health: this.#health,
      findings,
      checked: new Set(diagnoses.flatMap(({ diagnosis }) => diagnosis.checked)).size,
      notChecked: [
        ...new Set(
          diagnoses.flatMap(({ diagnosis }) =>
            diagnosis.notChecked.map(({ kind, needs }) => `${kind}: no ${needs.join(', no ')}`),
          ),
        ),
      ],
      series: mergeSeries(this.#points, this.#pace.interval),
      traffic,
      failures: groupFailures(this.#samples),
      changes: this.#changes,
      replicas: compareReplicas(replicas),
    };
  }

  /** Runs again and again, until the signal. What fails is tried again; `#askStatus` tells people. */
  async #repeat(
    pause: number,
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    while (!signal.aborted) {
      await run(signal).catch(() => {});
      if (signal.aborted) return;
      await new Promise<void>((resolve) => {
        const timer = this.#clock.after(pause, end);
        signal.addEventListener('abort', end);
        function end() {
          timer.cancel();
          signal.removeEventListener('abort', end);
          resolve();
        }
      });
    }
  }

  #note(replica: string, kind: Change['kind'], sentence: string): void {
    this.#add([{ at: this.#now(), replica, kind, sentence }]);
  }

  #add(changes: readonly Change[]): void {
    this.#changes = [...changes, ...this.#changes].slice(0, MAX_CHANGES);
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}
