/**
 * SRV records with the weights of CoreDNS: 100 divided by the number of pairs of an address and a port.
 */
import { type NameKey, type RecordData, TYPE } from '@portolan/dns/types.ts';
import type { NamedSet, RecordSet } from '@portolan/kernel/zone/record-set.ts';

/** The target of an SRV record. */
export interface ServiceTarget {
  readonly name: NameKey;
  readonly port: number;
  /** The target's addresses. */
  readonly addresses: readonly NamedSet[];
}

/**
 * The SRV set of these targets, as a list: empty without targets.
 *
 * @param targets targets of the same name must be adjacent
 * @param pairs number of pairs of an address and a port; more than records if pairs make the same record
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

const MIN_WEIGHT = 1;

/** The weight of each record of a set. @param pairs as in `serviceSets` */
export const computeWeight = (pairs: number): number => Math.max(MIN_WEIGHT, Math.floor(100 / pairs));

/** The records of one name. */
export function makeSrvData(name: NameKey, ports: readonly number[], weight: number): readonly ServiceData[] {
  const distinct = ports.length === 1 ? ports : [...new Set(ports)];
  return distinct.map((port) => ({ kind: 'SRV', priority: 0, weight, port, target: name }));
}

/** Builds an SRV set. */
class ServiceSet {
  readonly #weight: number;
  readonly #data: ServiceData[] = [];
  readonly #additional: NamedSet[] = [];
  #current: NameKey | undefined;
  /** The first record of the current name. */
  #first = 0;

  /** @param pairs as of `serviceSets` */
  constructor(pairs: number) {
    this.#weight = computeWeight(pairs);
  }

  /** Adds a target. Targets of the same name must be adjacent. */
  add(name: NameKey, port: number, addresses: readonly NamedSet[]): void {
    if (name !== this.#current) {
      this.#current = name;
      this.#first = this.#data.length;
      for (const set of addresses) this.#additional.push(set);
    }
    if (hasPort(this.#data, this.#first, port)) return;
    this.#data.push({ kind: 'SRV', priority: 0, weight: this.#weight, port, target: name });
  }

  /** The set, as a list: empty without targets. */
  finish(ttl: number): readonly RecordSet[] {
    if (this.#data.length === 0) return [];
    return [{ type: TYPE.SRV, ttl, data: this.#data, additional: this.#additional }];
  }
}

type ServiceData = Extract<RecordData, { kind: 'SRV' }>;

/** TCP and UDP of one port make the same record, and so do two addresses of one name. */
function hasPort(data: readonly ServiceData[], first: number, port: number): boolean {
  for (let index = first; index < data.length; index += 1) if (data[index]?.port === port) return true;
  return false;
}
