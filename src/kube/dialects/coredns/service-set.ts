/**
 * SRV records as CoreDNS weighs them: every pair of an address and a port counts, and 100 is divided among all pairs.
 */
import { type NameKey, type RecordData, TYPE } from '../../../wire/types.ts';
import type { NamedSet, RecordSet } from '../../../zone/record-set.ts';

/** Where an SRV record leads. */
export interface ServiceTarget {
  readonly name: NameKey;
  readonly port: number;
  /** The target's addresses. */
  readonly addresses: readonly NamedSet[];
}

/**
 * The SRV set of these targets, as a list: empty when there are none.
 *
 * @param targets those of one name one behind the other
 * @param pairs pairs of an address and a port; more than there are records where pairs make the same one
 */
export function serviceSets(
  targets: readonly ServiceTarget[],
  pairs: number,
  ttl: number,
): readonly RecordSet[] {
  const set = new ServiceSet(pairs);
  for (const { name, port, addresses } of targets) set.add(name, port, addresses);
  return set.finish(ttl);
}

export const MIN_WEIGHT = 1;

/** What each record of a set weighs. @param pairs as of `serviceSets` */
export const weightOf = (pairs: number): number => Math.max(MIN_WEIGHT, Math.floor(100 / pairs));

/** The records of one name. */
export function servicesOf(name: NameKey, ports: readonly number[], weight: number): readonly ServiceData[] {
  const distinct = ports.length === 1 ? ports : [...new Set(ports)];
  return distinct.map((port) => ({ kind: 'SRV', priority: 0, weight, port, target: name }));
}

/** An SRV set in the making. */
export class ServiceSet {
  readonly weight: number;
  readonly #data: ServiceData[] = [];
  readonly #additional: NamedSet[] = [];
  #current: NameKey | undefined;
  /** The first record of the current name. */
  #first = 0;

  /** @param pairs as of `serviceSets` */
  constructor(pairs: number) {
    this.weight = weightOf(pairs);
  }

  /** Adds a target, those of one name one behind the other. */
  add(name: NameKey, port: number, addresses: readonly NamedSet[]): void {
    if (name !== this.#current) {
      this.#current = name;
      this.#first = this.#data.length;
      for (const set of addresses) this.#additional.push(set);
    }
    if (hasPort(this.#data, this.#first, port)) return;
    this.#data.push({ kind: 'SRV', priority: 0, weight: this.weight, port, target: name });
  }

  /** Adds all records of a name, which `servicesOf` has made. */
  addAll(services: readonly ServiceData[], addresses: readonly NamedSet[]): void {
    for (const set of addresses) this.#additional.push(set);
    for (const data of services) this.#data.push(data);
  }

  /** The set, as a list: empty when there are no targets. */
  finish(ttl: number): readonly RecordSet[] {
    if (this.#data.length === 0) return [];
    return [{ type: TYPE.SRV, ttl, data: this.#data, additional: this.#additional }];
  }
}

export type ServiceData = Extract<RecordData, { kind: 'SRV' }>;

/** TCP and UDP of one port make the same record, and so do two addresses of one name. */
function hasPort(data: readonly ServiceData[], first: number, port: number): boolean {
  for (let index = first; index < data.length; index += 1) if (data[index]?.port === port) return true;
  return false;
}
