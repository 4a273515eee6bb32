/**
 * The size of a cluster: its nodes, its schedulable nodes, and their processors.
 */
import type { NodeCapacityObject, ObjectSink } from './objects.ts';
import { ceilNanos } from './quantity.ts';

export interface NodeCounts {
  readonly nodes: number;
  /** Nodes that are ready and not cordoned. */
  readonly schedulableNodes: number;
  /** The sum of their allocatable processors, rounded up once. */
  readonly cores: number;
  readonly schedulableCores: number;
}

export class NodeCountsSink implements ObjectSink<NodeCapacityObject> {
  readonly #onChange: () => void;
  #nodes = new Map<string, NodeCapacityObject>();
  /** While a list is under way: its objects so far. */
  #listed: Map<string, NodeCapacityObject> | undefined;
  #last: NodeCounts | undefined;

  /** @param onChange called when the counts have changed, once they are known */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** The current counts: zeros before the first list is complete. */
  get counts(): NodeCounts {
    return countNodes(this.#nodes.values());
  }

  listStarted(): void {
    this.#listed = new Map();
  }

  upsert(node: NodeCapacityObject): void {
    (this.#listed ?? this.#nodes).set(node.name, node);
    this.#report();
  }

  listCompleted(): void {
    this.#nodes = this.#listed ?? this.#nodes;
    this.#listed = undefined;
    this.#report();
  }

  remove(name: string): void {
    this.#nodes.delete(name);
    this.#report();
  }

  count(): number {
    return this.#nodes.size;
  }

  /** Most events of nodes are heartbeats, which do not change the counts. */
  #report(): void {
    if (this.#listed !== undefined) return;
    const { counts } = this;
    const before = this.#last;
    this.#last = counts;
    const isSame =
      before !== undefined &&
      before.nodes === counts.nodes &&
      before.schedulableNodes === counts.schedulableNodes &&
      before.cores === counts.cores &&
      before.schedulableCores === counts.schedulableCores;
    if (!isSame) this.#onChange();
  }
}

export function countNodes(all: Iterable<NodeCapacityObject>): NodeCounts {
  let nodes = 0;
  let schedulableNodes = 0;
  let nanocores = 0n;
  let schedulableNanocores = 0n;
  for (const node of all) {
    nodes += 1;
    nanocores += node.nanocores;
    if (!node.isSchedulable) continue;
    schedulableNodes += 1;
    schedulableNanocores += node.nanocores;
  }
  const cores = ceilNanos(nanocores);
  return { nodes, schedulableNodes, cores, schedulableCores: ceilNanos(schedulableNanocores) };
}
