/**
 * Elects one of several instances as leader: the one that holds a Lease, and renews it before it expires.
 *
 * Another instance holds it until its record stays unchanged for the Lease's duration on the clock of this machine, so the
 * clocks of others do not matter.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { OutageLog } from '@portolan/kernel/base/outage-log.ts';
import { type RestClient, RestError } from '@portolan/kubernetes/api/rest/rest-client.ts';
import { asRecord, asText, type JsonRecord } from '@portolan/kubernetes/objects/trim/fields.ts';
import type { ElectionPlan } from '@portolan/server/settings/autoscaler/autoscaler-plan.ts';

export interface ElectionDependencies {
  readonly rest: RestClient;
  readonly namespace: string;
  /** Unique per instance. */
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns numbers from 0 to below 1. */
  readonly random: () => number;
  /** Called when this instance has become the leader. */
  readonly onElected: () => void;
}

/** As fractions of the Lease's duration: how long a leader acts without renewal, and the interval of attempts. */
const TRUST = 2 / 3;
const RETRY = 2 / 15;
const JITTER = 0.2;

export class LeaderElection {
  readonly #plan: ElectionPlan;
  readonly #dependencies: ElectionDependencies;
  readonly #collection: string;
  readonly #outage: OutageLog;
  /** When the last successful renewal was sent, on the monotonic clock; undefined if this instance does not hold the Lease. */
  #renewedAt: number | undefined;
  #wasLeader = false;
  /** The record as last seen, and the time since when it is unchanged. */
  #seen: { readonly record: string; readonly since: number } | undefined;
  #isStopped = false;
  #timer: Timer | undefined;
  #wake: () => void = () => {};
  #running: Promise<void> | undefined;

  constructor(plan: ElectionPlan, dependencies: ElectionDependencies) {
    this.#plan = plan;
    this.#dependencies = dependencies;
    this.#collection = `/apis/coordination.k8s.io/v1/namespaces/${dependencies.namespace}/leases`;
    this.#outage = new OutageLog(dependencies.log, dependencies.clock, {
      failed: 'the Lease cannot be acquired or renewed',
      ended: 'the Lease can be used again',
    });
  }

  /** Becomes false well before another instance may take the Lease. */
  get isLeader(): boolean {
    if (this.#renewedAt === undefined) return false;
    return this.#dependencies.clock.monotonic() - this.#renewedAt < this.#plan.duration * TRUST;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Releases the Lease, so that another instance takes it at once. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#wake();
    await this.#running;
    if (!this.isLeader) return;
    this.#renewedAt = undefined;
    try {
      const lease = await this.#read();
      const spec = asRecord(lease?.['spec']);
      if (lease === undefined || spec?.['holderIdentity'] !== this.#dependencies.identity) return;
      await this.#replace(lease, { ...spec, holderIdentity: '', leaseDurationSeconds: 1 });
    } catch (error) {
      this.#dependencies.log.debug('the Lease was not given back', { reason: String(error) });
    }
  }

  async #run(): Promise<void> {
    const { clock, random } = this.#dependencies;
    while (!this.#isStopped) {
      await this.#try();
      this.#report();
      if (this.#isStopped) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        const delay = this.#plan.duration * RETRY * (1 + JITTER * random());
        this.#timer = clock.after(delay, resolve);
      });
    }
  }

  async #try(): Promise<void> {
    const sentAt = this.#dependencies.clock.monotonic();
    try {
      const isHeld = await this.#acquire(sentAt);
      this.#renewedAt = isHeld ? sentAt : undefined;
      this.#outage.ended();
    } catch (error) {
      // Another instance was faster; the next attempt sees its record.
      if (error instanceof RestError && error.status === 409) this.#renewedAt = undefined;
      else this.#outage.failed(describeError(error));
    }
  }

  /** @returns whether this instance holds the Lease now */
  async #acquire(now: number): Promise<boolean> {
    const { identity, rest, namespace } = this.#dependencies;
    const lease = await this.#read();
    if (lease === undefined) {
      const metadata = { name: this.#plan.lease, namespace };
      const object = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata };
      await rest.create(this.#collection, { ...object, spec: this.#record(undefined) });
      return true;
    }
    const spec = asRecord(lease['spec']);
    const holder = asText(spec?.['holderIdentity']) ?? '';
    if (holder !== identity && holder !== '' && !this.#hasEnded(spec ?? {}, now)) return false;
    await this.#replace(lease, this.#record(spec));
    return true;
  }

  #hasEnded(spec: JsonRecord, now: number): boolean {
    const record = JSON.stringify(spec);
    if (this.#seen?.record !== record) this.#seen = { record, since: now };
    const seconds = Number(spec['leaseDurationSeconds']);
    const duration = Number.isFinite(seconds) ? seconds * 1000 : this.#plan.duration;
    return now - this.#seen.since >= duration;
  }

  #record(before: JsonRecord | undefined): JsonRecord {
    const { identity, clock } = this.#dependencies;
    // With microseconds, as in the type MicroTime.
    const renewTime = new Date(clock.now()).toISOString().replace('Z', '000Z');
    const isSame = before?.['holderIdentity'] === identity;
    const transitions = Number(before?.['leaseTransitions'] ?? 0) || 0;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(this.#plan.duration / 1000),
      acquireTime: isSame ? (before['acquireTime'] ?? renewTime) : renewTime,
      renewTime,
      leaseTransitions: isSame || before === undefined ? transitions : transitions + 1,
    };
  }

  async #read(): Promise<JsonRecord | undefined> {
    try {
      return await this.#dependencies.rest.get(`${this.#collection}/${this.#plan.lease}`);
    } catch (error) {
      if (error instanceof RestError && error.status === 404) return undefined;
      throw error;
    }
  }

  async #replace(lease: JsonRecord, spec: JsonRecord): Promise<void> {
    await this.#dependencies.rest.replace(`${this.#collection}/${this.#plan.lease}`, { ...lease, spec });
  }

  #report(): void {
    const { isLeader } = this;
    if (isLeader === this.#wasLeader) return;
    this.#wasLeader = isLeader;
    const { log, identity, onElected } = this.#dependencies;
    log.info(isLeader ? 'became the leader' : 'is the leader no more', {
      lease: this.#plan.lease,
      identity,
    });
    if (isLeader) onElected();
  }
}
