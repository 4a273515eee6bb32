/**
 * What pods say about their addresses.
 *
 * An address says something only as long as all pods that claim it say the same: a pod that ends may keep its address in its object for a
 * while, and all pods in the network of a node have the address of the node.
 */
import { keyOfObject, type ObjectKey, type ObjectSink, type PodObject } from '../objects/objects.ts';
import { canonicalAddresses } from './endpoints.ts';

interface Claim<Value> {
  readonly addresses: readonly string[];
  readonly value: Value;
}

export interface ClaimValues<Value> {
  /** Pods that say the same have the same object. */
  readonly take: (pod: PodObject) => Value;
  /** The pod is gone. Default: nothing is done. */
  readonly release?: (value: Value) => void;
}

export class PodClaims<Value extends object> implements ObjectSink<PodObject> {
  readonly #values: ClaimValues<Value>;
  readonly #claims = new Map<ObjectKey, Claim<Value>>();
  /** How many pods claim an address with each value; nearly always it is one pod. */
  readonly #byAddress = new Map<string, Value | Map<Value, number>>();
  /** While a list is under way: the pods in it. */
  #listed: Set<ObjectKey> | undefined;
  #isListed = false;
  readonly #watchers = new Set<(address: string) => void>();

  constructor(values: ClaimValues<Value>) {
    this.#values = values;
  }

  /** Whether the pods were ever listed. */
  get isListed(): boolean {
    return this.#isListed;
  }

  /** Undefined: no pod has the address, several that differ do, or pods were never listed. @param address canonical */
  find(address: string): Value | undefined {
    const [value, ...others] = this.all(address);
    return others.length === 0 ? value : undefined;
  }

  /** What the pods with an address say; empty if pods were never listed. @param address canonical */
  all(address: string): readonly Value[] {
    const found = this.#isListed ? this.#byAddress.get(address) : undefined;
    if (found === undefined) return [];
    return found instanceof Map ? [...found.keys()] : [found];
  }

  /**
   * Calls `watcher` for each canonical address after what is known of it may have changed, and now for all that are known.
   *
   * @returns ends it
   */
  watch(watcher: (address: string) => void): () => void {
    this.#watchers.add(watcher);
    if (this.#isListed) for (const address of this.#byAddress.keys()) watcher(address);
    return () => {
      this.#watchers.delete(watcher);
    };
  }

  listStarted(): void {
    this.#listed = new Set();
  }

  upsert(pod: PodObject): void {
    const key = keyOfObject(pod);
    this.#listed?.add(key);
    const before = this.#claims.get(key);
    const claim = { addresses: canonicalAddresses(pod.addresses), value: this.#values.take(pod) };
    this.#claims.set(key, claim);
    // Added before the former ones are subtracted, so that an address never says less than both.
    for (const address of claim.addresses) this.#add(address, claim.value);
    this.#forget(before);
    this.#tell(claim.addresses);
  }

  listCompleted(): void {
    const listed = this.#listed ?? new Set<ObjectKey>();
    for (const key of this.#claims.keys()) if (!listed.has(key)) this.remove(key);
    this.#listed = undefined;
    if (this.#isListed) return;
    this.#isListed = true;
    this.#tell(this.#byAddress.keys());
  }

  remove(key: ObjectKey): void {
    const claim = this.#claims.get(key);
    if (claim === undefined) return;
    this.#claims.delete(key);
    this.#forget(claim);
  }

  count(): number {
    return this.#claims.size;
  }

  #forget(claim: Claim<Value> | undefined): void {
    if (claim === undefined) return;
    for (const address of claim.addresses) this.#subtract(address, claim.value);
    this.#values.release?.(claim.value);
    this.#tell(claim.addresses);
  }

  #tell(addresses: Iterable<string>): void {
    if (!this.#isListed || this.#watchers.size === 0) return;
    for (const address of addresses) for (const watcher of this.#watchers) watcher(address);
  }

  #add(address: string, value: Value): void {
    const before = this.#byAddress.get(address);
    if (before === undefined) {
      this.#byAddress.set(address, value);
      return;
    }
    const counts = before instanceof Map ? before : new Map([[before, 1]]);
    counts.set(value, (counts.get(value) ?? 0) + 1);
    this.#byAddress.set(address, counts);
  }

  #subtract(address: string, value: Value): void {
    const before = this.#byAddress.get(address);
    if (!(before instanceof Map)) {
      this.#byAddress.delete(address);
      return;
    }
    const left = (before.get(value) ?? 0) - 1;
    if (left > 0) before.set(value, left);
    else before.delete(value);
    const [[only, claims] = [], ...others] = before;
    if (only === undefined) this.#byAddress.delete(address);
    else if (others.length === 0 && claims === 1) this.#byAddress.set(address, only);
  }
}
