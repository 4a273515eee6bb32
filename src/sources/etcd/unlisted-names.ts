/**
 * Names whose keys etcd does not list by version 2 of its API: names with a label that begins with an underscore, such as
 * `_http._tcp` before a service. They are neither read with the others nor watched, so each is read on demand.
 */
import type { Clock } from '../../base/clock.ts';
import type { ItemFence } from '../../base/item-fence.ts';
import type { NameKey } from '../../wire/types.ts';
import type { EtcdSettings } from './client/settings.ts';
import { EtcdV2Client } from './client/v2-client.ts';
import { type KeyNode, KeyTree } from './names/key-tree.ts';
import { checkValue } from './names/service-record.ts';
import {
  octetsOf,
  pathOfName,
  type ServiceLookup,
  ServiceNames,
  type ServiceRules,
} from './names/services.ts';

export interface UnlistedNamesOptions {
  readonly etcd: EtcdSettings;
  /** The prefix of all keys, with its final slash. */
  readonly prefix: string;
  readonly rules: ServiceRules;
  /** The look-up of other names. */
  readonly names: ServiceLookup;
  readonly fence: ItemFence;
  readonly clock: Clock;
}

/** Concurrent reads. */
const MAX_QUESTIONS = 64;

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

  close(): void {
    this.#client.close();
  }

  async #ask(name: NameKey): Promise<ServiceLookup> {
    const { prefix, names, rules, fence } = this.#options;
    const { nodes } = await this.#client.read(`${prefix}${pathOfName(name).join('/')}`);
    const tree = new KeyTree();
    const seconds = new Map<KeyNode, number>();
    for (const { key, value, ttl } of nodes) {
      const path = key.slice(prefix.length).split('/');
      const content = fence.take(
        () => key,
        () => checkValue(Buffer.from(value)),
      );
      const { node } = tree.put(octetsOf(path), content ?? 'bad');
      seconds.set(node, ttl);
    }
    const own = new ServiceNames(tree, { secondsLeft: (node) => seconds.get(node) ?? 0 }, rules);
    return {
      find: (asked, selection, onTimed) =>
        asked === name ? own.find(asked, selection, onTimed) : names.find(asked, selection, onTimed),
    };
  }
}
