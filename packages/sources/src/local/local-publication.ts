/**
 * Local names in the answer table: the names of hosts files as a list that readers compose answers from, and nodes for names whose
 * answers need more. A change publishes the difference between the nodes, name by name, and the new list with one store, so that
 * readers always find a name that is in both.
 */
import { parseName, ROOT } from '@portolan/dns/name.ts';
import { keyOfWire } from '@portolan/dns/name-wire.ts';
import type { NameKey, WireName } from '@portolan/dns/types.ts';
import { collectGarbage } from '@portolan/kernel/base/collect-garbage.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { HostNames, type HostRules } from '@portolan/kernel/records/hosts/host-names.ts';
import { TableFullError } from '@portolan/kernel/table/arena.ts';
import type { NameNode, PublicationId, ZoneId } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import { toZoneSettings, type Zone } from '@portolan/kernel/zone/zone.ts';

/** Names published without a pause: less than a millisecond. */
const STRETCH = 100;

/** A list of so many names leaves more garbage than collecting it costs. */
const MANY_NAMES = 100_000;

/** A list of more names costs more than it saves. */
const MAX_LISTED = 1000;

/** Clients never see it: other sources answer the names that are missing here. */
const ZONE: Zone = {
  apex: ROOT,
  soa: {
    kind: 'SOA',
    serial: 1,
    refresh: 7200,
    retry: 1800,
    expire: 86_400,
    minimum: 0,
    primary: parseName('local.'),
    mailbox: parseName('local.'),
  },
  negativeTtl: 0,
  authoritativeNxdomain: false,
};

/** The number of changed names, and the first ones while they are few. */
export class CountedNames {
  count = 0;
  readonly first: NameKey[] = [];

  add(name: WireName): void {
    this.count += 1;
    if (this.count <= MAX_LISTED) this.first.push(keyOfWire(name));
  }

  /** Whether `first` has all of them. */
  get isListed(): boolean {
    return this.count <= MAX_LISTED;
  }
}

/** Names to publish as nodes. */
export interface PublishedNames {
  /** Without duplicates. Each is valid until the next. Undefined: the caller may pause. */
  names(): Iterable<WireName | undefined>;
  has(name: WireName): boolean;
  /** False if only the nodes themselves can show it. */
  hasSameNode(name: WireName, other: this): boolean;
  /** Valid until the next call. */
  compile(name: WireName, zone: ZoneId): NameNode;
}

export class LocalPublication {
  /** Views that list it show the names. */
  readonly id: PublicationId;
  /** Whether the table has had room for all names. */
  isWhole = true;
  readonly #table: TableWriter;
  readonly #log: Log;
  readonly #zone: ZoneId;

  constructor(table: TableWriter, log: Log) {
    this.#table = table;
    this.#log = log;
    const state = { known: true, askWildcards: false };
    this.id = table.definePublication();
    const settings = { ...toZoneSettings(ZONE, state), cachesOpenTypes: true, missing: 'next' } as const;
    this.#zone = table.defineZone(settings, this.id);
  }

  /**
   * A list for the names of hosts files, empty so far.
   *
   * @param expected approximate number of names
   */
  makeHostNames(rules: Omit<HostRules, 'zone'>, expected = 0): HostNames {
    return new HostNames(this.#table.openRecordSpace(this.id), { ...rules, zone: this.#zone }, expected);
  }

  /** Says that the table is full. What is published stays, without the names that are missing. */
  reportFull(first?: WireName): void {
    this.isWhole = false;
    const named = first === undefined ? {} : { first: keyOfWire(first) };
    this.#log.error('local names not published, the answer table is full', named);
  }

  /**
   * Publishes the differences. The caller may pause at each yield.
   *
   * @param hosts to show in place of the list that is shown; default: that one stays
   * @returns the nodes that changed; undefined if the table is full: what is published stays
   */
  *replace<Names extends PublishedNames>(
    before: Names,
    after: Names,
    hosts?: HostNames,
  ): Generator<void, CountedNames | undefined> {
    const changed = new CountedNames();
    let count = 0;
    let isWhole = true;
    for (const name of after.names()) {
      if (name === undefined) {
        yield;
        continue;
      }
      const result = this.#put(name, before, after);
      isWhole = result !== 'full';
      if (!isWhole) break;
      if (result === 'changed') changed.add(name);
      count += 1;
      if (count % STRETCH === 0) yield;
    }
    if (!isWhole || (hosts !== undefined && !this.#show(hosts))) {
      yield* this.#withdraw(before, after);
      return undefined;
    }
    for (const name of before.names()) {
      if (name === undefined) {
        yield;
        continue;
      }
      if (!after.has(name)) {
        this.#table.remove(name, this.#zone);
        changed.add(name);
      }
      count += 1;
      if (count % STRETCH === 0) yield;
    }
    this.#table.collect();
    this.isWhole = true;
    return changed;
  }

  /** @returns whether the table had room for it */
  #show(hosts: HostNames): boolean {
    try {
      hosts.show();
      // What indexes grew through is garbage of many megabytes, which a quiet process would keep.
      if (hosts.size >= MANY_NAMES) void collectGarbage();
      return true;
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      this.reportFull();
      return false;
    }
  }

  /** Removes the nodes that only `after` has. */
  *#withdraw(before: PublishedNames, after: PublishedNames): Generator<void, void> {
    let count = 0;
    for (const name of after.names()) {
      if (name === undefined) {
        yield;
        continue;
      }
      if (!before.has(name)) this.#table.remove(name, this.#zone);
      count += 1;
      if (count % STRETCH === 0) yield;
    }
  }

  #put<Names extends PublishedNames>(
    name: WireName,
    before: Names,
    after: Names,
  ): 'same' | 'changed' | 'full' {
    const wasThere = before.has(name);
    if (wasThere && after.hasSameNode(name, before)) return 'same';
    const standing = wasThere ? this.#table.find(name, this.#zone) : undefined;
    try {
      const now = this.#table.put(after.compile(name, this.#zone));
      return now === standing ? 'same' : 'changed';
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      this.reportFull(name);
      return 'full';
    }
  }
}
