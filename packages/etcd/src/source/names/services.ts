/**
 * The services of a name: the records of the keys at it and below it.
 */
import { parseAddress, unmapAddress } from '@portolan/dns/address.ts';
import { splitLabels, tryParseName } from '@portolan/dns/name.ts';
import type { AbsoluteName } from '@portolan/dns/types.ts';
import { type KeyNode, type KeyTree, NO_NODE } from './key-tree.ts';
import { parseServiceRecord, type ServiceRecord } from './service-record.ts';

/** The host of a record. */
export type ServiceHost =
  | { readonly kind: 'address'; readonly family: 4 | 6; readonly octets: Uint8Array }
  | { readonly kind: 'name'; readonly name: AbsoluteName }
  /** It is empty, or is not a valid name. */
  | { readonly kind: 'none' };

export interface Service extends Omit<ServiceRecord, 'host'> {
  /** The parts of its key, without the prefix. */
  readonly path: readonly string[];
  /** The name of its key, if it was already known. */
  readonly name?: AbsoluteName | undefined;
  readonly host: ServiceHost;
  /** The host as written. */
  readonly hostText: string;
}

/** The keys that count for a name. */
export type Selection =
  /** The one key of this name. */
  | 'exact'
  /** All keys below the name; its own key only without keys below (CoreDNS). */
  | 'below-or-exact'
  /** All keys at the name and below it (SkyDNS). */
  | 'all';

export type Services =
  | { readonly kind: 'found'; readonly services: readonly Service[] }
  /** The name has no keys. */
  | { readonly kind: 'missing' }
  /** The value of one of the keys is not a record. */
  | { readonly kind: 'bad' };

/** The remaining time of keys. */
export interface LeaseTimes {
  /** Remaining whole seconds of the key; 0: it does not expire. Undefined: not known yet. */
  secondsLeft(node: KeyNode): number | undefined;
}

/** Rules look up the services of names here. */
export interface ServiceLookup {
  /** @param onTimed called if the TTL of a record depends on the time of the question */
  find(name: AbsoluteName, selection: Selection, onTimed?: () => void): Services;
}

export interface TtlRules {
  /** TTL of records without one. */
  readonly defaultTtl: number;
  /** Priority of records without one, or with 0. */
  readonly defaultPriority: number;
  /** Seconds: bounds of a lease's remaining time, applied before the comparison with the record's own TTL. */
  readonly minLease: number;
  readonly maxLease: number;
}

export interface ServiceRules {
  readonly ttls: TtlRules;
  /** Whether to skip values that are not records; otherwise lookups of names that include them fail. */
  readonly skipsBadValues: boolean;
}

interface Key extends Pick<Service, 'path' | 'name'> {
  readonly node: KeyNode;
}

/** More records than a message can carry. */
const MAX_SERVICES = 4096;

const MISSING: Services = { kind: 'missing' };
const BAD: Services = { kind: 'bad' };
const NO_HOST: ServiceHost = { kind: 'none' };

export class ServiceNames implements ServiceLookup {
  readonly tree: KeyTree;
  readonly #leases: LeaseTimes;
  readonly #rules: ServiceRules;

  constructor(tree: KeyTree, leases: LeaseTimes, rules: ServiceRules) {
    this.tree = tree;
    this.#leases = leases;
    this.#rules = rules;
  }

  find(name: AbsoluteName, selection: Selection, onTimed: () => void = () => {}): Services {
    const path = pathOfName(name);
    const star = path.findIndex(isWildcard);
    const start = this.tree.find(encodePath(star < 0 ? path : path.slice(0, star)));
    if (start === NO_NODE) return MISSING;
    return this.#servicesFrom({ start }, selection, star < 0 ? undefined : path, onTimed);
  }

  /**
   * A look-up that reads the services of one name once for several questions. It is valid until the next change of a key.
   *
   * @param name a publishable name
   * @param node the node of the name
   */
  remembering(name: AbsoluteName, node: KeyNode): ServiceLookup {
    const known = new Map<Selection, { readonly services: Services; readonly isTimed: boolean }>();
    const read = (selection: Selection) => {
      let isTimed = false;
      const onTimed = () => {
        isTimed = true;
      };
      const services = this.#servicesFrom({ start: node, name }, selection, undefined, onTimed);
      const found = { services, isTimed };
      known.set(selection, found);
      return found;
    };
    return {
      find: (asked, selection, onTimed) => {
        if (asked !== name) return this.find(asked, selection, onTimed);
        const { services, isTimed } = known.get(selection) ?? read(selection);
        if (isTimed) onTimed?.();
        return services;
      },
    };
  }

  /** @param place a node, and its name if known */
  #servicesFrom(
    { start, name }: { readonly start: KeyNode; readonly name?: AbsoluteName },
    selection: Selection,
    pattern: readonly string[] | undefined,
    onTimed: () => void,
  ): Services {
    const nodes = this.#select(start, selection);
    if (nodes.length === 0) return MISSING;
    const keys = nodes.map((node) =>
      node === start && name !== undefined
        ? { node, path: pathOfName(name), name }
        : { node, path: this.tree.listPath(node), name: undefined },
    );
    if (keys.length > 1) keys.sort((one, other) => comparePaths(one.path, other.path));
    const services: Service[] = [];
    for (const key of keys) {
      if (pattern !== undefined && !matches(key.path, pattern)) continue;
      const service = this.#read(key, onTimed);
      if (service !== undefined) services.push(service);
      else if (!this.#rules.skipsBadValues) return BAD;
    }
    return { kind: 'found', services };
  }

  /** The nodes of keys. */
  #select(start: KeyNode, selection: Selection): KeyNode[] {
    const { tree } = this;
    const own = tree.hasKey(start) ? [start] : [];
    if (selection === 'exact' || tree.count(start) === own.length) return own;
    const nodes = selection === 'all' ? own : [];
    const waiting = [...tree.children(start)];
    for (let node = waiting.pop(); node !== undefined && nodes.length < MAX_SERVICES; node = waiting.pop()) {
      if (tree.hasKey(node)) nodes.push(node);
      for (const child of tree.children(node)) {
        waiting.push(child);
        if (waiting.length >= MAX_SERVICES) break;
      }
    }
    return nodes;
  }

  #read({ node, path, name }: Key, onTimed: () => void): Service | undefined {
    if (this.tree.isBad(node)) return undefined;
    const record = parseServiceRecord(this.tree.value(node));
    if (record === undefined) return undefined;
    const { host, port, priority, weight, text, mail, targetStrip, group } = record;
    return {
      path,
      name,
      host: readHost(host),
      hostText: host,
      port,
      priority: priority === 0 ? this.#rules.ttls.defaultPriority : priority,
      weight,
      text,
      mail,
      ttl: this.#computeTtl(node, record.ttl, onTimed),
      targetStrip,
      group,
    };
  }

  #computeTtl(node: KeyNode, own: number, onTimed: () => void): number {
    const { defaultTtl, minLease, maxLease } = this.#rules.ttls;
    const left = this.#leases.secondsLeft(node);
    const ttl = own === 0 ? defaultTtl : own;
    if (left === 0) return ttl;
    // The remaining time is read again before half of it has passed: until then it does not matter.
    const mayMatter = own === 0 || (own > minLease && (left ?? 0) / 2 < own);
    if (mayMatter) onTimed();
    const bounded = Math.min(maxLease, Math.max(minLease, left ?? minLease));
    return own === 0 ? bounded : Math.min(own, bounded);
  }
}

/** The parts of the key of a name, below the prefix: its labels from right to left. A slash in a label splits the label. */
export function pathOfName(name: AbsoluteName): string[] {
  const labels = splitLabels(name).toReversed();
  if (!name.includes('/')) return labels;
  return labels.flatMap((label) => label.split('/')).filter((part) => part !== '');
}

/** The name of a key. @returns undefined if its parts do not form a name */
export function nameOfPath(path: readonly string[]): AbsoluteName | undefined {
  const labels = path.filter((part) => part !== '').toReversed();
  return labels.length === 0 ? undefined : tryParseName(`${labels.join('.')}.`);
}

export function encodePath(path: readonly string[]): Buffer[] {
  return path.map((part) => Buffer.from(part, 'utf8'));
}

/** Whether a label of a question is a wildcard. */
export function isWildcard(label: string): boolean {
  return label === '*' || label === 'any';
}

function readHost(text: string): ServiceHost {
  if (text === '') return NO_HOST;
  const octets = parseAddress(text);
  if (octets === undefined) {
    const name = tryParseName(text);
    return name === undefined ? NO_HOST : { kind: 'name', name };
  }
  // An IPv4-mapped address counts as IPv4 (RFC 4291 section 2.5.5.2).
  const plain = unmapAddress(octets);
  return { kind: 'address', family: plain.length === 4 ? 4 : 6, octets: plain };
}

function matches(path: readonly string[], pattern: readonly string[]): boolean {
  return pattern.every((part, index) => {
    const label = path[index];
    return label !== undefined && (isWildcard(part) || part === label);
  });
}

/** The order of keys in etcd. */
function comparePaths(one: readonly string[], other: readonly string[]): number {
  return Buffer.compare(Buffer.from(one.join('/')), Buffer.from(other.join('/')));
}
