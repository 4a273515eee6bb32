/**
 * The place of a cluster: the zone and region of the first node by name that has them.
 */
import type { NodeObject, ObjectSink } from './objects.ts';

export type ClusterPlace =
  /** Nodes are not listed yet. */
  | { readonly kind: 'unknown' }
  /** All nodes lack a zone and region. */
  | { readonly kind: 'nowhere' }
  | { readonly kind: 'place'; readonly zone: string; readonly region: string };

export class NodePlaces implements ObjectSink<NodeObject> {
  #nodes = new Map<string, NodeObject>();
  /** While a list is under way: its objects so far. */
  #listed: Map<string, NodeObject> | undefined;
  #isKnown = false;
  #place: ClusterPlace | undefined;

  get place(): ClusterPlace {
    if (!this.#isKnown) return { kind: 'unknown' };
    this.#place ??= this.#find();
    return this.#place;
  }

  listStarted(): void {
    this.#listed = new Map();
  }

  upsert(node: NodeObject): void {
    (this.#listed ?? this.#nodes).set(node.name, node);
    this.#place = undefined;
  }

  listCompleted(): void {
    this.#nodes = this.#listed ?? this.#nodes;
    this.#listed = undefined;
    this.#isKnown = true;
    this.#place = undefined;
  }

  remove(name: string): void {
    this.#nodes.delete(name);
    this.#place = undefined;
  }

  count(): number {
    return this.#nodes.size;
  }

  #find(): ClusterPlace {
    let first: NodeObject | undefined;
    for (const node of this.#nodes.values()) if (first === undefined || node.name < first.name) first = node;
    return first === undefined
      ? { kind: 'nowhere' }
      : { kind: 'place', zone: first.zone, region: first.region };
  }
}
