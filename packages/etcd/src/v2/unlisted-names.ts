/**
 * Names whose keys etcd does not list by version 2 of its API: names with a label that begins with an underscore, such as
 * `_http._tcp` before a service. They are neither read with the others nor watched, so each is read on demand.
 */
import { toKey } from '@portolan/dns/name.ts';
import type { AbsoluteName, NameKey } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { EtcdSettings } from '../source/client/settings.ts';
import { type KeyNode, KeyTree } from '../source/names/key-tree.ts';
import { checkValue } from '../source/names/service-record.ts';
import {
  encodePath,
  isWildcard,
  pathOfName,
  type Selection,
  type ServiceLookup,
  ServiceNames,
  type ServiceRules,
  type Services,
} from '../source/names/services.ts';
import { EtcdV2Client } from './client.ts';

export interface UnlistedNamesOptions {
  readonly etcd: EtcdSettings;
  /** The prefix of all keys, with its final slash. */
  readonly prefix: string;
  readonly rules: ServiceRules;
  /** The look-up of other names. */
  readonly names: ServiceLookup;
  readonly guard: ItemGuard;
  readonly clock: Clock;
}

/** Concurrent reads. */
const MAX_QUESTIONS = 64;

/** @deprecated Version 3 lists all keys. */
export class UnlistedNames {
  readonly #options: UnlistedNamesOptions;
  readonly #client: EtcdV2Client;
  readonly #inFlight = new Map<NameKey, Promise<ServiceLookup>>();

  constructor(options: UnlistedNamesOptions) {
    this.#options = options;
    this.#client = new EtcdV2Client(options.etcd, options.clock);
  }

  includes(name: NameKey): boolean {
    return name.startsWith('_') || name.includes('._');
  }

  /** Returns a look-up for the services of a name and of all others. @throws Error if etcd does not answer in time */
  async read(name: NameKey): Promise<ServiceLookup> {
    const known = this.#inFlight.get(name);
    if (known !== undefined) return await known;
    if (this.#inFlight.size >= MAX_QUESTIONS) throw new Error('too many questions to etcd are under way');
    const asked = this.#ask(name).finally(() => this.#inFlight.delete(name));
    this.#inFlight.set(name, asked);
    return await asked;
  }

  /** A look-up for one question. */
  lookUp(): UnlistedLookup {
    return new UnlistedLookup(this.#options.names, this);
  }

  close(): void {
    this.#client.close();
  }

  async #ask(name: NameKey): Promise<ServiceLookup> {
    const { prefix, names, rules, guard } = this.#options;
    const path = pathOfName(name);
    const star = path.findIndex(isWildcard);
    // What a wildcard matches is below the labels before it.
    const folder = star === -1 ? path : path.slice(0, star);
    const { nodes } = await this.#client.read(`${prefix}${folder.join('/')}`);
    const tree = new KeyTree();
    const seconds = new Map<KeyNode, number>();
    for (const { key, value, ttl } of nodes) {
      const path = key.slice(prefix.length).split('/');
      const content = guard.take(
        () => key,
        () => checkValue(Buffer.from(value)),
      );
      const { node } = tree.put(encodePath(path), content ?? 'bad');
      seconds.set(node, ttl);
    }
    const own = new ServiceNames(tree, { secondsLeft: (node) => seconds.get(node) ?? 0 }, rules);
    return {
      find: (asked, selection, onTimed) =>
        asked === name ? own.find(asked, selection, onTimed) : names.find(asked, selection, onTimed),
    };
  }
}

/** Sum of the names that one question may read: those of a chain of aliases, and the targets of services. */
const MAX_READS = 64;

/**
 * The look-up of one question that may lead to names that etcd does not list: targets of aliases and services. It notes those that are not
 * read yet, and finds nothing for them.
 */
export class UnlistedLookup implements ServiceLookup {
  readonly #names: ServiceLookup;
  readonly #unlisted: UnlistedNames;
  readonly #read = new Map<NameKey, ServiceLookup>();
  readonly #missing = new Set<NameKey>();

  constructor(names: ServiceLookup, unlisted: UnlistedNames) {
    this.#names = names;
    this.#unlisted = unlisted;
  }

  /** Whether an answer may lack names. */
  get isIncomplete(): boolean {
    return this.#missing.size > 0 && this.#read.size < MAX_READS;
  }

  find(name: AbsoluteName, selection: Selection, onTimed?: () => void): Services {
    const key = toKey(name);
    if (!this.#unlisted.includes(key)) return this.#names.find(name, selection, onTimed);
    const read = this.#read.get(key);
    if (read === undefined) this.#missing.add(key);
    return read?.find(key, selection, onTimed) ?? { kind: 'missing' };
  }

  /** Reads the names that were missing. @throws Error if etcd does not answer in time */
  async readMissing(): Promise<void> {
    const names = [...this.#missing].slice(0, MAX_READS - this.#read.size);
    this.#missing.clear();
    await Promise.all(names.map(async (name) => this.#read.set(name, await this.#unlisted.read(name))));
  }
}
