/**
 * All keys below a prefix, as a tree by their parts: `/skydns/local/skydns/a` is below `/skydns/local/skydns`.
 *
 * Nodes are rows of numbers, labels and values are runs of octets: a key takes about 80 octets in addition to its text.
 */
import { OctetStore } from './octet-store.ts';

/** A node of the tree, from 1. It exists until its last key is removed. */
export type KeyNode = number;

/** The node above all keys. */
export const TOP: KeyNode = 1;
export const NO_NODE: KeyNode = 0;

/** The content of a key: the octets of a record, or `bad` if its value is not a record. */
export type KeyContent = Uint8Array | 'bad';

const PARENT = 0;
const FIRST_CHILD = 1;
const NEXT = 2;
const PREVIOUS = 3;
/** The next node with the same hash. */
const CHAIN = 4;
const LABEL = 5;
const VALUE = 6;
/** Keys at this node and below it. */
const COUNT = 7;
/** Bad ones among them. */
const BAD_COUNT = 8;
const STRIDE = 9;

const NO_VALUE = -1;
const BAD_VALUE = -2;
const FIRST_SIZE = 256;

export class KeyTree {
  #rows = new Int32Array(FIRST_SIZE * STRIDE);
  #buckets = new Int32Array(FIRST_SIZE);
  #used = 2;
  #free: KeyNode = NO_NODE;
  #nodes = 1;
  #store = new OctetStore();

  constructor() {
    this.#set(TOP, LABEL, this.#store.add(new Uint8Array()));
    this.#set(TOP, VALUE, NO_VALUE);
    this.#set(NO_NODE, VALUE, NO_VALUE);
  }

  /** Keys. */
  get size(): number {
    return this.count(TOP);
  }

  /** Nodes, including nodes without a key of their own. */
  get nodes(): number {
    return this.#nodes;
  }

  get badKeys(): number {
    return this.#get(TOP, BAD_COUNT);
  }

  /**
   * @param from the node that the path begins below; default: the top
   * @returns the node, and whether its content has changed
   */
  put(
    path: readonly Uint8Array[],
    content: KeyContent,
    from: KeyNode = TOP,
  ): { readonly node: KeyNode; readonly isChanged: boolean } {
    let node = from;
    for (const label of path) node = this.#child(node, label) || this.#addChild(node, label);
    const before = this.#get(node, VALUE);
    if (content === 'bad' ? before === BAD_VALUE : before >= 0 && this.#store.equals(before, content))
      return { node, isChanged: false };
    if (before >= 0) this.#store.free(before);
    this.#set(node, VALUE, content === 'bad' ? BAD_VALUE : this.#store.add(content));
    const isBad = Number(content === 'bad') - Number(before === BAD_VALUE);
    this.#addCounts(node, before === NO_VALUE ? 1 : 0, isBad);
    this.#compact();
    return { node, isChanged: true };
  }

  /** @returns whether the key existed */
  remove(path: readonly Uint8Array[]): boolean {
    const node = this.find(path);
    if (node === NO_NODE || !this.hasKey(node)) return false;
    this.removeKey(node);
    return true;
  }

  /** Removes the key of a node that has one, and the nodes that have no keys left. */
  removeKey(node: KeyNode): void {
    const before = this.#get(node, VALUE);
    if (before >= 0) this.#store.free(before);
    this.#set(node, VALUE, NO_VALUE);
    this.#addCounts(node, -1, before === BAD_VALUE ? -1 : 0);
    for (let at = node; at !== TOP && this.count(at) === 0; ) {
      const parent = this.#get(at, PARENT);
      this.#removeNode(at, parent);
      at = parent;
    }
    this.#compact();
  }

  find(path: readonly Uint8Array[]): KeyNode {
    let node = TOP;
    for (const label of path) {
      node = this.#child(node, label);
      if (node === NO_NODE) return NO_NODE;
    }
    return node;
  }

  hasKey(node: KeyNode): boolean {
    return this.#get(node, VALUE) !== NO_VALUE;
  }

  isBad(node: KeyNode): boolean {
    return this.#get(node, VALUE) === BAD_VALUE;
  }

  /** The value of a key that is a record. */
  value(node: KeyNode): string {
    const at = this.#get(node, VALUE);
    return at < 0 ? '' : this.#store.text(at);
  }

  /** Keys at a node and below it. */
  count(node: KeyNode): number {
    return this.#get(node, COUNT);
  }

  badCount(node: KeyNode): number {
    return this.#get(node, BAD_COUNT);
  }

  label(node: KeyNode): string {
    return this.#store.text(this.#get(node, LABEL));
  }

  parent(node: KeyNode): KeyNode {
    return this.#get(node, PARENT);
  }

  /** The parts of a key, from the top down. */
  listPath(node: KeyNode): string[] {
    const path: string[] = [];
    for (let at = node; at > TOP; at = this.parent(at)) path.unshift(this.label(at));
    return path;
  }

  /** Nodes with keys, in no particular order. The tree may change meanwhile: keys that stay are included. */
  *keyNodes(): Iterable<KeyNode> {
    if (this.hasKey(TOP)) yield TOP;
    for (const node of this.#standing()) if (this.hasKey(node)) yield node;
  }

  /** Nodes with keys at a node and below it, in no particular order. */
  keysBelow(top: KeyNode): readonly KeyNode[] {
    const keys: KeyNode[] = [];
    const waiting = [top];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      if (this.hasKey(node)) keys.push(node);
      for (const child of this.children(node)) waiting.push(child);
    }
    return keys;
  }

  /** In no particular order. The tree must not change meanwhile. */
  *children(node: KeyNode): Iterable<KeyNode> {
    for (let at = this.#get(node, FIRST_CHILD); at !== NO_NODE; at = this.#get(at, NEXT)) yield at;
  }

  /** The first child of a node, to go on with `nextSibling`; `NO_NODE` at the end. */
  firstChild(node: KeyNode): KeyNode {
    return this.#get(node, FIRST_CHILD);
  }

  nextSibling(node: KeyNode): KeyNode {
    return this.#get(node, NEXT);
  }

  #get(node: KeyNode, field: number): number {
    return this.#rows[node * STRIDE + field] ?? 0;
  }

  #set(node: KeyNode, field: number, value: number): void {
    this.#rows[node * STRIDE + field] = value;
  }

  #addCounts(node: KeyNode, keys: number, bad: number): void {
    if (keys === 0 && bad === 0) return;
    for (let at = node; at !== NO_NODE; at = this.#get(at, PARENT)) {
      this.#set(at, COUNT, this.#get(at, COUNT) + keys);
      this.#set(at, BAD_COUNT, this.#get(at, BAD_COUNT) + bad);
    }
  }

  #bucket(parent: KeyNode, label: Uint8Array): number {
    let hash = parent;
    for (let at = 0; at < label.length; at += 1) hash = Math.imul(hash ^ (label[at] ?? 0), 0x01000193);
    hash ^= hash >>> 15;
    return Math.imul(hash, 0x2c1b3c6d) & (this.#buckets.length - 1);
  }

  #child(parent: KeyNode, label: Uint8Array): KeyNode {
    let node = this.#buckets[this.#bucket(parent, label)] ?? NO_NODE;
    for (; node !== NO_NODE; node = this.#get(node, CHAIN))
      if (this.#get(node, PARENT) === parent && this.#store.equals(this.#get(node, LABEL), label))
        return node;
    return NO_NODE;
  }

  #addChild(parent: KeyNode, label: Uint8Array): KeyNode {
    const node = this.#takeRow();
    const next = this.#get(parent, FIRST_CHILD);
    this.#rows.fill(0, node * STRIDE, (node + 1) * STRIDE);
    this.#set(node, PARENT, parent);
    this.#set(node, NEXT, next);
    if (next !== NO_NODE) this.#set(next, PREVIOUS, node);
    this.#set(parent, FIRST_CHILD, node);
    this.#set(node, LABEL, this.#store.add(label));
    this.#set(node, VALUE, NO_VALUE);
    this.#nodes += 1;
    if (this.#nodes > this.#buckets.length) this.#rehash();
    else this.#link(node, label);
    return node;
  }

  #link(node: KeyNode, label: Uint8Array): void {
    const bucket = this.#bucket(this.#get(node, PARENT), label);
    this.#set(node, CHAIN, this.#buckets[bucket] ?? NO_NODE);
    this.#buckets[bucket] = node;
  }

  #removeNode(node: KeyNode, parent: KeyNode): void {
    const previous = this.#get(node, PREVIOUS);
    const next = this.#get(node, NEXT);
    if (previous === NO_NODE) this.#set(parent, FIRST_CHILD, next);
    else this.#set(previous, NEXT, next);
    if (next !== NO_NODE) this.#set(next, PREVIOUS, previous);
    this.#unlink(node, parent);
    this.#store.free(this.#get(node, LABEL));
    this.#set(node, PARENT, NO_NODE);
    this.#set(node, CHAIN, this.#free);
    this.#free = node;
    this.#nodes -= 1;
  }

  #unlink(node: KeyNode, parent: KeyNode): void {
    const bucket = this.#bucket(parent, this.#store.get(this.#get(node, LABEL)));
    const after = this.#get(node, CHAIN);
    let at = this.#buckets[bucket] ?? NO_NODE;
    if (at === node) {
      this.#buckets[bucket] = after;
      return;
    }
    while (this.#get(at, CHAIN) !== node) at = this.#get(at, CHAIN);
    this.#set(at, CHAIN, after);
  }

  #takeRow(): KeyNode {
    const node = this.#free;
    if (node !== NO_NODE) {
      this.#free = this.#get(node, CHAIN);
      return node;
    }
    if ((this.#used + 1) * STRIDE > this.#rows.length) {
      const rows = new Int32Array(Math.ceil(this.#rows.length / STRIDE / 2) * 3 * STRIDE);
      rows.set(this.#rows);
      this.#rows = rows;
    }
    this.#used += 1;
    return this.#used - 1;
  }

  /** Doubles the buckets. */
  #rehash(): void {
    this.#buckets = new Int32Array(this.#buckets.length * 2);
    for (const node of this.#standing()) this.#link(node, this.#store.get(this.#get(node, LABEL)));
  }

  /** All nodes except the top. */
  *#standing(): Iterable<KeyNode> {
    for (let node = TOP + 1; node < this.#used; node += 1)
      if (this.#get(node, PARENT) !== NO_NODE) yield node;
  }

  /** Compacts labels and values when half of their memory is free. */
  #compact(): void {
    if (!this.#store.isWasteful) return;
    const store = new OctetStore();
    const move = (node: KeyNode, field: number) => {
      const at = this.#get(node, field);
      if (at >= 0) this.#set(node, field, store.add(this.#store.get(at)));
    };
    move(TOP, LABEL);
    move(TOP, VALUE);
    for (const node of this.#standing()) {
      move(node, LABEL);
      move(node, VALUE);
    }
    this.#store = store;
  }
}
