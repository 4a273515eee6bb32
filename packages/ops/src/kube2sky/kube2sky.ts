/**
 * Keeps the records of SkyDNS in etcd equal to the objects of a cluster.
 *
 * They are derived again after changes, and the difference to the stored records is written. This also cleans up after a crash
 * or another program. Writing starts only after all objects are listed.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { OutageLog } from '@portolan/kernel/base/outage-log.ts';
import type { Connection } from '@portolan/kubernetes/api/connection/types.ts';
import { ClusterWatch } from '@portolan/kubernetes/api/list-watch/cluster-watch.ts';
import type { EndpointsObject, PodObject, ServiceObject } from '@portolan/kubernetes/objects/objects.ts';
import { ChangedObjects } from './changed-objects.ts';
import type { RecordChange, RecordStore, StoredRecord } from './record-store.ts';
import type { Kube2SkyPlan } from './settings/kube2sky-plan.ts';
import { deriveRecords, SUBDOMAINS, toEtcdKey } from './sky-records.ts';

export interface Kube2SkyDependencies {
  readonly connection: Connection;
  readonly store: RecordStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds: changes within this time are written together. */
const GATHER = 100;
/** Milliseconds between two renewals of ownership, and until a retry after a failure. */
const RENEW = 4_000;
const RETRY = 1_000;
/** Milliseconds after which the stored records are read again, in case another client has changed them. */
const REREAD = 300_000;

export class Kube2Sky {
  /** Resolves once etcd was not writable for as long as the plan allows. */
  readonly failure: Promise<Error>;
  readonly #plan: Kube2SkyPlan;
  readonly #dependencies: Kube2SkyDependencies;
  readonly #services: ChangedObjects<ServiceObject>;
  readonly #endpoints: ChangedObjects<EndpointsObject>;
  readonly #pods: ChangedObjects<PodObject>;
  readonly #watch: ClusterWatch;
  readonly #outage: OutageLog;
  #fail: (error: Error) => void = () => {};
  /** The stored records as last known, and the time of the read. */
  #stored: { readonly records: Map<string, StoredRecord>; readonly readAt: number } | undefined;
  #hasChanged = true;
  #isReady = false;
  #failingSince: number | undefined;
  #isStopped = false;
  #timer: Timer | undefined;
  #wake: () => void = () => {};
  #running: Promise<void> | undefined;

  constructor(plan: Kube2SkyPlan, dependencies: Kube2SkyDependencies) {
    this.#plan = plan;
    this.#dependencies = dependencies;
    const { connection, clock, log } = dependencies;
    const changed = () => this.#note();
    this.#services = new ChangedObjects(changed);
    this.#endpoints = new ChangedObjects(changed);
    this.#pods = new ChangedObjects(changed);
    const sinks = { services: this.#services, endpoints: this.#endpoints, pods: this.#pods };
    this.#watch = new ClusterWatch({ connection, sinks, clock, log });
    this.#outage = new OutageLog(log, clock, {
      failed: 'etcd cannot be written to',
      ended: 'etcd is written to again',
    });
    this.failure = new Promise((resolve) => {
      this.#fail = resolve;
    });
  }

  /** Whether all records were written, or another instance writes them. */
  get isReady(): boolean {
    return this.#isReady;
  }

  start(): void {
    this.#watch.onChange(() => this.#note());
    this.#watch.start();
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#wake();
    await Promise.all([this.#watch.stop(), this.#running]);
    try {
      await this.#dependencies.store.close();
    } catch (error) {
      this.#dependencies.log.debug('the ownership was not given up', { reason: String(error) });
    }
  }

  #note(): void {
    if (this.#hasChanged) return;
    this.#hasChanged = true;
    this.#setTimer(GATHER);
  }

  #setTimer(milliseconds: number): void {
    this.#timer?.cancel();
    this.#timer = this.#dependencies.clock.after(milliseconds, () => this.#wake());
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const delay = await this.#turn();
      if (this.#isStopped) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#setTimer(this.#hasChanged && delay === RENEW ? GATHER : delay);
      });
    }
  }

  /** @returns milliseconds until the next turn, if there is no change before */
  async #turn(): Promise<number> {
    const { store, clock } = this.#dependencies;
    try {
      const isOwner = await store.own();
      if (!isOwner) {
        this.#stored = undefined;
        this.#isReady = true;
        this.#hasChanged = true;
      } else if (this.#watch.status().synced && !(await this.#update())) return GATHER;
      this.#outage.ended();
      this.#failingSince = undefined;
      return isOwner ? RENEW : RENEW / 2;
    } catch (error) {
      this.#stored = undefined;
      this.#hasChanged = true;
      this.#failingSince ??= clock.monotonic();
      this.#reportFailure(describeError(error));
      return RETRY;
    }
  }

  /** @returns false if others have written meanwhile, so that it must be repeated */
  async #update(): Promise<boolean> {
    const { store, clock, log } = this.#dependencies;
    const now = clock.monotonic();
    if (this.#stored !== undefined && now - this.#stored.readAt > REREAD) this.#stored = undefined;
    if (this.#stored !== undefined && !this.#hasChanged) return true;
    this.#hasChanged = false;
    const stored = this.#stored ?? { records: await this.#read(), readAt: now };
    const changes = findChanges(stored.records, this.#derive());
    const isWritten = await store.write(changes);
    // A write changes the versions: read them again at the next change.
    this.#stored = isWritten && changes.length === 0 ? stored : undefined;
    if (changes.length > 0) log.info('records written', { changes: changes.length, complete: isWritten });
    if (isWritten && changes.length === 0) this.#isReady = true;
    return isWritten && changes.length === 0;
  }

  async #read(): Promise<Map<string, StoredRecord>> {
    const folders = SUBDOMAINS.map((name) => toEtcdKey(`${name}.${this.#plan.domain}`));
    const records = new Map<string, StoredRecord>();
    for (const folder of folders)
      for (const [key, record] of await this.#dependencies.store.read(folder)) records.set(key, record);
    return records;
  }

  #derive(): ReadonlyMap<string, string> {
    const objects = {
      services: this.#services.all,
      endpoints: this.#endpoints.all,
      pods: this.#pods.all,
    };
    return deriveRecords(objects, this.#plan.domain);
  }

  #reportFailure(reason: string): void {
    this.#outage.failed(reason);
    const { mutationTimeout } = this.#plan;
    const failing = this.#dependencies.clock.monotonic() - (this.#failingSince ?? 0);
    if (mutationTimeout > 0 && failing >= mutationTimeout)
      this.#fail(new Error(`cannot write to etcd within -etcd-mutation-timeout: ${reason}`));
  }
}

/** The changes from the stored to the wanted records. New records are first, removals last. */
function findChanges(
  stored: ReadonlyMap<string, StoredRecord>,
  wanted: ReadonlyMap<string, string>,
): readonly RecordChange[] {
  const changes: RecordChange[] = [];
  for (const [key, value] of wanted) {
    const before = stored.get(key);
    if (before?.value !== value) changes.push({ kind: 'put', key, value, version: before?.version });
  }
  for (const [key, { version }] of stored)
    if (!wanted.has(key)) changes.push({ kind: 'remove', key, version });
  return changes;
}
