/**
 * Follows the keys below a prefix of etcd and answers for them as names of some zones.
 *
 * The keys are read once and then watched, so questions cause no calls. While etcd is unreachable, the last known keys are used.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { ItemFault, ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Losses, LossGuard, LossMark } from '@portolan/kernel/base/losses.ts';
import { TimeSlice } from '@portolan/kernel/base/time-slice.ts';
import type { PublicationId } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import type { Zone } from '@portolan/kernel/zone/zone.ts';
import {
  SnapshotKeeper,
  type SnapshotSettings,
  type SnapshotStats,
} from '@portolan/kubernetes/snapshot/snapshot-keeper.ts';
import { loadV2 } from '../v2/load.ts';
import type { UnlistedLookup, UnlistedNames } from '../v2/unlisted-names.ts';
import { ChangedNames } from './changed-names.ts';
import type { EtcdSettings } from './client/settings.ts';
import { EtcdPublication, type EtcdZone } from './etcd-publication.ts';
import { type FeedStats, KeyFeed } from './follow/key-feed.ts';
import type { KeyReader, KeySink } from './follow/key-reader.ts';
import { V3Reader } from './follow/v3-reader.ts';
import { type KeyNode, KeyTree, NO_NODE, TOP } from './names/key-tree.ts';
import { restoreKeys, writeKeys } from './names/last-good-keys.ts';
import { type KeyLease, Leases } from './names/leases.ts';
import { PrefixedKeys } from './names/prefixed-keys.ts';
import { checkValue } from './names/service-record.ts';
import { encodePath, pathOfName, type ServiceLookup, ServiceNames } from './names/services.ts';
import { StaleKeys } from './names/stale-keys.ts';
import { Evaluation, type OutsideAnswers, type ServiceAnswer } from './rules/evaluation.ts';
import type { QuestionOfRules, ZoneRules } from './rules/rules.ts';

export interface EtcdSourceSettings {
  readonly etcd: EtcdSettings;
  /** Version of etcd's API; 2 is deprecated. */
  readonly version: 2 | 3;
  /** The first parts of all keys, without slashes around them: `skydns`. */
  readonly prefix: string;
  readonly zones: readonly EtcdZone[];
  readonly rules: ZoneRules;
  /** The counter for hits of the table. */
  readonly outcome: number;
  /** Where to keep the keys in a file, for a start without etcd. Default: nowhere. */
  readonly snapshot?: SnapshotSettings | undefined;
}

export interface EtcdSourceDependencies {
  readonly table: TableWriter;
  /** Judges what etcd lacks. Default: it goes at once. */
  readonly losses?: Losses | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface EtcdStats extends FeedStats {
  readonly keys: number;
  /** Keys whose values are not records. */
  readonly badKeys: number;
  readonly leases: number;
  /** Leases whose remaining time is not known yet. */
  readonly unknownLeases: number;
  readonly snapshot: SnapshotStats | undefined;
}

/** An answer, the outside names that it lacks, and whether it depends on the time. */
export interface EvaluatedAnswer {
  readonly answer: ServiceAnswer;
  readonly wanted: Evaluation['wanted'];
  readonly isTimed: boolean;
}

/** Octets of a key. Names are shorter. */
const MAX_KEY_OCTETS = 2048;
/** Milliseconds that a start waits for the keys: the same as `kubernetes` waits for its objects. */
const STARTUP_TIMEOUT = 5_000;

export class EtcdSource implements KeySink {
  readonly #settings: EtcdSourceSettings;
  readonly #dependencies: EtcdSourceDependencies;
  readonly #prefix: Buffer;
  readonly #tree = new KeyTree();
  readonly #keys: PrefixedKeys;
  readonly #leases: Leases;
  readonly #names: ServiceNames;
  readonly #publication: EtcdPublication;
  readonly #feed: KeyFeed;
  readonly #guard: ItemGuard;
  readonly #changes: ChangedNames;
  readonly #snapshot: SnapshotKeeper | undefined;
  readonly #listeners: { readonly path: readonly string[]; readonly changed: () => void }[] = [];
  /** From the start on, before which there are no keys. */
  #reader: KeyReader | undefined;
  /** By version 2 only, from the start on. */
  #unlisted: UnlistedNames | undefined;
  readonly #guardOfLosses: LossGuard | undefined;
  /** Keys that etcd has lost and that are answered on. */
  readonly #stale: StaleKeys;
  /** Keys that the current batch of changes removes. */
  readonly #removed = new Set<KeyNode>();
  /** Per node, whether the read under way has contained its key. */
  #met: Uint8Array | undefined;
  /** Changes with each change of a key. */
  #generation = 0;
  /** Whether all keys were read from etcd, not only from a snapshot. */
  #isRead = false;
  #isKnown = false;
  #isStopped = false;
  #endWait: () => void = () => {};

  constructor(settings: EtcdSourceSettings, dependencies: EtcdSourceDependencies) {
    const { prefix, rules, zones, outcome } = settings;
    const { table, clock, log, losses } = dependencies;
    this.#settings = settings;
    this.#dependencies = dependencies;
    const whole = `/${prefix}/`.replace(/\/+/g, '/');
    this.#prefix = Buffer.from(whole);
    this.#keys = new PrefixedKeys(this.#tree, this.#prefix);
    this.#stale = new StaleKeys(this.#tree);
    this.#guard = new ItemGuard({ source: 'etcd', clock, log });
    this.#leases = new Leases({
      ask: async (id) => (await this.#reader?.askLease(id)) ?? 0,
      onKnown: (nodes) => this.#republish(nodes),
      clock,
    });
    this.#names = new ServiceNames(this.#tree, this.#leases, rules);
    const isStale = (node: KeyNode) => this.#stale.isBelow(node);
    const publication = {
      table,
      names: this.#names,
      rules,
      zones,
      outcome,
      isStale,
      guard: this.#guard,
      log,
    };
    this.#publication = new EtcdPublication(publication);
    this.#changes = new ChangedNames(this.#publication, clock);
    this.#snapshot = this.#makeSnapshot();
    this.#feed = new KeyFeed(clock, log);
    this.#guardOfLosses = losses?.guard(
      { kind: 'etcd', subject: whole },
      { count: () => this.#stale.size, remove: (mark) => this.#removeStale(mark) },
    );
  }

  get publication(): PublicationId {
    return this.#publication.id;
  }

  /** Whether keys are known, from etcd or from a snapshot. Until then answers are errors. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Whether all keys were read from etcd. Until then names are not denied. */
  get isRead(): boolean {
    return this.#isRead;
  }

  get names(): ServiceNames {
    return this.#names;
  }

  /**
   * Resolves when the keys are read, at the latest after 5 s. A start with a snapshot does not wait for an etcd whose members have
   * all failed.
   */
  async start(): Promise<void> {
    const reader = await this.#openReader();
    this.#reader = reader;
    await this.#restore();
    if (this.#isStopped) return reader.close();
    const read = this.#firstRead();
    this.#feed.start(reader, this, () => this.#failed());
    this.#snapshot?.start();
    await read;
  }

  /** Ends the wait of `start`. */
  proceed(): void {
    this.#endWait();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#endWait();
    this.#changes.stop();
    this.#leases.stop();
    this.#guardOfLosses?.stop();
    this.#unlisted?.close();
    await this.#feed.stop();
    await this.#snapshot?.stop();
  }

  stats(): EtcdStats {
    const { size: keys, badKeys } = this.#tree;
    const snapshot = this.#snapshot?.count();
    const feed = this.#feed.stats();
    // Before the first read, the state is that of the snapshot.
    const age = feed.age ?? (this.#isKnown ? snapshot?.age : undefined);
    return {
      ...feed,
      age,
      snapshot,
      keys,
      badKeys,
      leases: this.#leases.count,
      unknownLeases: this.#leases.unknown,
    };
  }

  /** The zone that contains a name; undefined if it is in none of these. */
  findZone(name: NameKey): Zone | undefined {
    return this.#publication.findZone(name);
  }

  /** The look-up of one question, where some keys are not followed and must be read; undefined: all are followed. */
  lookUpUnlisted(): UnlistedLookup | undefined {
    return this.#unlisted?.lookUp();
  }

  /**
   * @param question within `zone`, of any type but SOA
   * @param services the result of `lookUpUnlisted`; default: the followed keys
   */
  answer(
    zone: NameKey,
    question: QuestionOfRules,
    outside?: OutsideAnswers,
    services: ServiceLookup = this.#names,
  ): EvaluatedAnswer {
    const evaluation = new Evaluation(services, outside);
    const answer = this.#settings.rules.answer(evaluation, zone, question);
    return { answer, wanted: evaluation.wanted, isTimed: evaluation.isTimed };
  }

  /** Whether the answer for a name is from keys that etcd has lost. */
  isStale(name: NameKey): boolean {
    return this.#stale.size > 0 && this.#stale.isBelow(this.#tree.find(encodePath(pathOfName(name))));
  }

  /** The value of the key of a path, below the prefix. */
  value(path: readonly string[]): string | undefined {
    const node = this.#tree.find(encodePath(path));
    return this.#tree.hasKey(node) ? this.#tree.value(node) : undefined;
  }

  /** Calls `changed` after a change of a key at a path or below it, and after all keys were read. */
  onChange(path: readonly string[], changed: () => void): void {
    this.#listeners.push({ path, changed });
  }

  beginRead(): void {
    this.#removed.clear();
    // An empty tree has no keys to remove.
    this.#met = this.#tree.size === 0 ? undefined : new Uint8Array(this.#tree.nodes + 1);
  }

  put(key: Buffer, value: Buffer | 'too-large', lease: KeyLease | undefined): void {
    this.#guard.take(
      () => String(key),
      () => this.#put(key, value, lease),
    );
  }

  remove(key: Buffer): void {
    this.#guard.take(
      () => String(key),
      () => {
        const node = this.#keys.find(key);
        if (node !== NO_NODE && this.#tree.hasKey(node)) this.#removed.add(node);
      },
    );
  }

  removeFolder(key: Buffer): void {
    this.#guard.take(
      () => String(key),
      () => {
        for (const node of this.#keys.within(key)) this.#removed.add(node);
      },
    );
  }

  async completeRead(): Promise<void> {
    const met = this.#met;
    const slice = new TimeSlice(this.#dependencies.clock);
    const missing = met === undefined ? [] : this.#tree.keysBelow(TOP).filter((node) => met[node] !== 1);
    const lost = missing.filter((node) => !this.#stale.has(node));
    const mark = this.#judge(lost.length);
    for (const node of lost) {
      this.#lose(node, mark);
      if (slice.isOver) await slice.next();
    }
    this.#met = undefined;
    this.#guardOfLosses?.settle();
    const isPublished = this.#isKnown;
    if (isPublished) await this.#changes.settled();
    if (this.#isStopped) return;
    this.#isRead = true;
    // The chain answers names that are not published yet.
    this.#becomeKnown(isPublished);
    this.#endWait();
    for (const { path, changed } of this.#listeners) this.#guard.take(() => path.join('/'), changed);
    const { keys, badKeys } = this.stats();
    this.#dependencies.log.info('etcd read', { keys, badKeys, prefix: String(this.#prefix) });
    if (isPublished) return;
    await this.#publishAll();
    if (!this.#isStopped) this.#becomeKnown(true);
  }

  completeBatch(): void {
    const mark = this.#judge(this.#removed.size);
    for (const node of this.#removed) this.#lose(node, mark);
    this.#removed.clear();
    this.#changes.schedule();
  }

  #judge(lost: number): LossMark {
    return this.#guardOfLosses?.judge(lost, () => this.#tree.size - this.#stale.size) ?? 0;
  }

  /** A key that is stale already keeps its mark, and with it its time. */
  #lose(node: KeyNode, mark: LossMark): void {
    if (mark === 0) this.#removeNode(node);
    else if (!this.#stale.has(node)) {
      this.#stale.add(node, mark);
      // Its answer says so from now on.
      this.#touch(this.#tree.listPath(node));
    }
  }

  #removeStale(mark: LossMark): void {
    for (const node of this.#stale.list(mark)) this.#removeNode(node);
    this.#changes.schedule();
  }

  async #openReader(): Promise<KeyReader> {
    const { etcd, version, rules } = this.#settings;
    const { clock, log } = this.#dependencies;
    const prefix = String(this.#prefix);
    if (version === 3) return new V3Reader(etcd, prefix, clock);
    const { UnlistedNames, V2Reader } = await loadV2(log);
    const unlisted = { etcd, prefix, rules, names: this.#names, guard: this.#guard, clock };
    this.#unlisted = new UnlistedNames(unlisted);
    return new V2Reader(etcd, prefix, clock);
  }

  #firstRead(): Promise<void> {
    const { clock, log } = this.#dependencies;
    return new Promise((resolve) => {
      const deadline = clock.after(STARTUP_TIMEOUT, () => {
        log.warn('etcd not read yet, serving without it', { prefix: String(this.#prefix) });
        resolve();
      });
      this.#endWait = () => {
        deadline.cancel();
        resolve();
      };
    });
  }

  #failed(): void {
    const { endpoints } = this.#settings.etcd;
    if (this.#isKnown && this.#feed.stats().failures >= endpoints.length) this.#endWait();
  }

  #makeSnapshot(): SnapshotKeeper | undefined {
    const { snapshot, etcd, version } = this.#settings;
    const { clock, log } = this.#dependencies;
    const endpoints = etcd.endpoints.map(({ text }) => text).sort();
    const source = `version ${version} of ${endpoints.join(',')}`;
    return (
      snapshot &&
      new SnapshotKeeper({
        ...snapshot,
        owner: async () => ({ domain: String(this.#prefix), source, cluster: this.#reader?.cluster }),
        generation: () => this.#generation,
        state: () =>
          // Keys that may be gone must not begin again with each start.
          this.#isRead && this.#stale.size === 0
            ? { kind: 'lines', lines: writeKeys(this.#tree, this.#leases, clock) }
            : undefined,
        isCurrent: () => this.#feed.stats().age === 0,
        clock,
        log,
      })
    );
  }

  async #restore(): Promise<void> {
    if (this.#snapshot === undefined) return;
    const content = await this.#snapshot.read();
    const lines = content?.kind === 'lines' ? content.lines : [];
    const { clock, log } = this.#dependencies;
    const guard = new ItemGuard({ source: 'snapshot', clock, log });
    await restoreKeys(lines, { tree: this.#tree, leases: this.#leases, guard, clock });
    if (this.#tree.size === 0) return;
    await this.#publishAll();
    this.#becomeKnown(false);
  }

  async #publishAll(): Promise<void> {
    const slice = new TimeSlice(this.#dependencies.clock);
    for (const _ of this.#publication.publishAll()) {
      if (slice.isOver) await slice.next();
      if (this.#isStopped) return;
    }
  }

  /** @param isWhole whether names that are not published do not exist */
  #becomeKnown(isWhole: boolean): void {
    this.#isKnown = true;
    this.#publication.becomeKnown(isWhole);
    this.#publication.changed();
  }

  #put(key: Buffer, value: Buffer | 'too-large', lease: KeyLease | undefined): void {
    if (key.length > MAX_KEY_OCTETS)
      throw new ItemFault('too-large', `it has more than ${MAX_KEY_OCTETS} octets`);
    const content = this.#guard.take(
      () => String(key),
      () => checkValue(value),
    );
    const put = this.#keys.put(key, content ?? 'bad');
    if (put === undefined) return;
    const { node, isChanged } = put;
    const hasOtherEnd = this.#leases.bind(node, lease);
    this.#meet(node);
    this.#removed.delete(node);
    const wasStale = this.#stale.delete(node);
    if (wasStale) this.#guardOfLosses?.settle();
    if (!isChanged && !hasOtherEnd && !wasStale) return;
    this.#generation += 1;
    // Until all is known it is published as a whole.
    if (this.#isKnown) this.#touch(this.#tree.listPath(node));
  }

  #removeNode(node: KeyNode): void {
    const path = this.#tree.listPath(node);
    this.#generation += 1;
    this.#stale.delete(node);
    this.#leases.unbind(node);
    this.#keys.remove(node);
    this.#touch(path);
  }

  #meet(node: KeyNode): void {
    if (this.#met === undefined) return;
    if (node >= this.#met.length) {
      const met = new Uint8Array(Math.max(node + 1, this.#met.length * 2));
      met.set(this.#met);
      this.#met = met;
    }
    this.#met[node] = 1;
  }

  #republish(nodes: Iterable<KeyNode>): void {
    for (const node of nodes) this.#touch(this.#tree.listPath(node));
    this.#changes.schedule();
  }

  #touch(key: readonly string[]): void {
    // Until all is known it is published as a whole.
    if (!this.#isKnown) return;
    this.#changes.add(key);
    for (const { path, changed } of this.#listeners)
      if (path.every((part, index) => part === key[index])) this.#guard.take(() => path.join('/'), changed);
  }
}
