/**
 * The ranges of addresses that the nodes of a cluster and their pods have, with the node of each.
 */
import { type OctetRange, RangeMap, toOctetRange } from '@portolan/dns/range-map.ts';
import type { NodeRangesObject, ObjectSink } from '../objects/objects.ts';

/** Is told of changes. */
export interface NodeRangesTarget {
  /** A range has another node now. */
  placed(range: OctetRange, node: NodeRangesObject): void;
  /** A range has no node any more. */
  forgotten(range: OctetRange): void;
  /** All changes of one event are made. */
  changed(): void;
}

/** Ranges of all nodes: more are left out. The API server bounds nodes only by its memory. */
const MAX_RANGES = 65_536;

export class NodeRanges implements ObjectSink<NodeRangesObject> {
  readonly #target: NodeRangesTarget;
  readonly #nodes = new Map<string, NodeRangesObject>();
  /** Several nodes have a range while one takes the place of another: the last one comes first. */
  readonly #ofRange = new RangeMap<readonly NodeRangesObject[]>();
  #listed: Set<string> | undefined;

  constructor(target: NodeRangesTarget) {
    this.#target = target;
  }

  /** The node of an address. @param octets 4 or 16 */
  findNode(octets: Uint8Array): NodeRangesObject | undefined {
    return this.#ofRange.find(octets)?.[0];
  }

  /** A node by its name. */
  find(name: string): NodeRangesObject | undefined {
    return this.#nodes.get(name);
  }

  listStarted(): void {
    this.#listed = new Set();
  }

  upsert(node: NodeRangesObject): void {
    this.#listed?.add(node.name);
    const before = this.#nodes.get(node.name);
    // Nodes report their state often, and move seldom.
    if (before !== undefined && areEqual(before, node)) return;
    this.#nodes.set(node.name, node);
    for (const range of toOctetRanges(node)) this.#claim(range, node);
    if (before !== undefined) this.#leave(before);
    this.#target.changed();
  }

  listCompleted(): void {
    const listed = this.#listed;
    this.#listed = undefined;
    for (const name of [...this.#nodes.keys()]) if (listed?.has(name) !== true) this.#forget(name);
    this.#target.changed();
  }

  remove(name: string): void {
    this.#forget(name);
    this.#target.changed();
  }

  count(): number {
    return this.#nodes.size;
  }

  #forget(name: string): void {
    const node = this.#nodes.get(name);
    if (node === undefined) return;
    this.#nodes.delete(name);
    this.#leave(node);
  }

  #claim(range: OctetRange, node: NodeRangesObject): void {
    const others = (this.#ofRange.get(range) ?? []).filter(({ name }) => name !== node.name);
    if (others.length === 0 && this.#ofRange.size >= MAX_RANGES && this.#ofRange.get(range) === undefined)
      return;
    this.#ofRange.set(range, [node, ...others]);
    this.#target.placed(range, node);
  }

  /** Gives up the ranges that a former state of a node had. */
  #leave(former: NodeRangesObject): void {
    for (const range of toOctetRanges(former)) {
      const nodes = this.#ofRange.get(range) ?? [];
      const left = nodes.filter((node) => node !== former);
      if (left.length === nodes.length) continue;
      const [next] = left;
      if (next === undefined) {
        this.#ofRange.delete(range);
        this.#target.forgotten(range);
      } else {
        this.#ofRange.set(range, left);
        this.#target.placed(range, next);
      }
    }
  }
}

const toOctetRanges = ({ ranges }: NodeRangesObject): readonly OctetRange[] =>
  ranges.flatMap((range) => toOctetRange(range) ?? []);

function areEqual(one: NodeRangesObject, other: NodeRangesObject): boolean {
  return (
    one.zone === other.zone &&
    one.ranges.length === other.ranges.length &&
    one.ranges.every(({ address, prefix }, index) => {
      const range = other.ranges[index];
      return address === range?.address && prefix === range.prefix;
    })
  );
}
