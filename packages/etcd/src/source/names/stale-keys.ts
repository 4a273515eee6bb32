/**
 * Keys that etcd has lost in a sudden loss and that are answered on.
 */
import type { LossMark } from '@portolan/kernel/base/losses.ts';
import { type KeyNode, type KeyTree, NO_NODE } from './key-tree.ts';

export class StaleKeys {
  readonly #tree: KeyTree;
  readonly #marks = new Map<KeyNode, LossMark>();
  /** How many are at each node and below it. */
  readonly #counts = new Map<KeyNode, number>();

  constructor(tree: KeyTree) {
    this.#tree = tree;
  }

  get size(): number {
    return this.#marks.size;
  }

  has(node: KeyNode): boolean {
    return this.#marks.has(node);
  }

  /** Whether a key at a node or below it is stale. */
  isBelow(node: KeyNode): boolean {
    return this.#counts.has(node);
  }

  /** @param node not stale yet */
  add(node: KeyNode, mark: LossMark): void {
    this.#marks.set(node, mark);
    this.#count(node, 1);
  }

  /** Call it before the node is removed. @returns whether it was stale */
  delete(node: KeyNode): boolean {
    const wasStale = this.#marks.delete(node);
    if (wasStale) this.#count(node, -1);
    return wasStale;
  }

  /** The keys with a mark. */
  list(mark: LossMark): readonly KeyNode[] {
    return [...this.#marks].flatMap(([node, own]) => (own === mark ? node : []));
  }

  #count(node: KeyNode, more: number): void {
    for (let at = node; at !== NO_NODE; at = this.#tree.parent(at)) {
      const count = (this.#counts.get(at) ?? 0) + more;
      if (count === 0) this.#counts.delete(at);
      else this.#counts.set(at, count);
    }
  }
}
