/**
 * Writes findings as Kubernetes Events, in the background: bounded, at most one in an hour for each finding and object, and never in the
 * way of queries.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { OutageLog } from '@portolan/kernel/base/outage-log.ts';
import { type RestClient, RestError } from '@portolan/kubernetes/api/rest/rest-client.ts';
import type { Finding } from '@portolan/server/reasons/finding.ts';
import type { EventsPlan } from '@portolan/server/settings/events/events-plan.ts';
import { createFindingEvent, type FindingEvent, groupFindings } from './finding-event.ts';

export interface EventDependencies {
  readonly rest: Pick<RestClient, 'create' | 'abort'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The name of this replica. */
  readonly instance: string;
}

/** Milliseconds between two Events with the same finding and object. */
const HOUR = 3_600_000;
/** Milliseconds without attempts after a failure, and after a refusal that an administrator has to lift. */
const PAUSE = 60_000;
const LONG_PAUSE = 600_000;
/** Events that wait; further ones come back with the next report. */
const MAX_WAITING = 50;
/** Findings whose last Event is remembered. */
const MAX_REMEMBERED = 5_000;
const FORBIDDEN = 403;
const NOT_FOUND = 404;
const CONFLICT = 409;
const RULE = '{apiGroups: ["events.k8s.io"], resources: [events], verbs: [create]}';

export class EventRecorder {
  readonly #plan: EventsPlan;
  readonly #dependencies: EventDependencies;
  readonly #outage: OutageLog;
  readonly #waiting = new Map<string, FindingEvent>();
  /** When an Event was written last, by its key; the oldest first. */
  readonly #written = new Map<string, number>();
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> | undefined;
  #isStopped = false;

  constructor(plan: EventsPlan, dependencies: EventDependencies) {
    this.#plan = plan;
    this.#dependencies = dependencies;
    this.#outage = new OutageLog(dependencies.log, dependencies.clock, {
      failed: 'events cannot be written',
      ended: 'events can be written again',
    });
  }

  /** Takes all current findings. Returns at once. */
  note(findings: readonly Finding[]): void {
    const { clock, instance } = this.#dependencies;
    const now = clock.monotonic();
    if (this.#isStopped) return;
    for (const group of groupFindings(findings, this.#plan)) {
      if (this.#waiting.size >= MAX_WAITING) break;
      const last = this.#written.get(group.key) ?? Number.NEGATIVE_INFINITY;
      if (now - last < HOUR || this.#waiting.has(group.key)) continue;
      this.#waiting.set(group.key, createFindingEvent(group, { instance, now: clock.now() }));
    }
    if (this.#writing !== undefined || now < this.#pausedUntil) return;
    this.#writing = this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#waiting.clear();
    this.#dependencies.rest.abort();
    await this.#writing;
  }

  /** Never rejects. */
  async #writeAll(): Promise<void> {
    for (const [key, event] of this.#waiting) {
      if (this.#isStopped || !(await this.#write(event))) return;
      this.#waiting.delete(key);
      this.#remember(key);
    }
  }

  /** @returns false if it is to be tried again later */
  async #write({ path, object }: FindingEvent): Promise<boolean> {
    try {
      await this.#dependencies.rest.create(path, object);
      this.#outage.ended();
      return true;
    } catch (error) {
      const status = error instanceof RestError ? error.status : undefined;
      // Another replica has written it, or the object and its namespace are gone.
      if (status === CONFLICT || status === NOT_FOUND) return true;
      if (!this.#isStopped) this.#fail(status, describeError(error));
      return false;
    }
  }

  #fail(status: number | undefined, reason: string): void {
    const isForbidden = status === FORBIDDEN;
    this.#pausedUntil = this.#dependencies.clock.monotonic() + (isForbidden ? LONG_PAUSE : PAUSE);
    this.#outage.failed(isForbidden ? 'forbidden' : 'failing', {
      reason,
      ...(isForbidden && { hint: `Add this rule to the ClusterRole: ${RULE}` }),
    });
  }

  #remember(key: string): void {
    this.#written.delete(key);
    this.#written.set(key, this.#dependencies.clock.monotonic());
    if (this.#written.size <= MAX_REMEMBERED) return;
    for (const oldest of this.#written.keys()) {
      this.#written.delete(oldest);
      return;
    }
  }
}
