/**
 * The writer's side of name nodes: puts, finds and removes them by name and publication.
 */
import type { Brand } from '@portolan/dns/brand.ts';
import type { WireName } from '@portolan/dns/types.ts';
import { TableFullError } from './arena.ts';
import { BlockBuffer, encodeNode } from './block.ts';
import type { AnswerCache } from './cache.ts';
import { countLabels, finishHash, hashName } from './hash.ts';
import { encodeShape, KIND, NODE, UNIT_SHIFT } from './layout.ts';
import type { TableViews, WriterMemory } from './memory.ts';
import type { Publications } from './publications.ts';
import type { Slots } from './slots.ts';
import { DEFAULT_PUBLICATION, type NameNode, type PublicationId, type ZoneId } from './types.ts';

/** Names a published node: its place in memory. Valid until the node is replaced or removed. */
export type NodeRef = Brand<number, 'NodeRef'>;

export interface NameNodesParts {
  readonly memory: WriterMemory;
  readonly slots: Slots;
  readonly publications: Publications;
  readonly cache: Pick<AnswerCache, 'evictNear'>;
  /** The keys of the hash. */
  readonly keys: Int32Array;
}

/** Slots to scan in one step for the nodes of a publication: takes a fraction of a millisecond. */
const STRETCH = 4096;

export class NameNodes {
  readonly #views: TableViews;
  readonly #parts: NameNodesParts;
  readonly #slots: Slots;
  readonly #buffer = new BlockBuffer();
  count = 0;
  octets = 0;

  constructor(parts: NameNodesParts) {
    this.#views = parts.memory.views;
    this.#parts = parts;
    this.#slots = parts.slots;
  }

  /** @throws TableFullError and leaves the table as it was */
  put(node: NameNode): NodeRef {
    const { memory, publications } = this.#parts;
    const publication = publications.ofZone(node.zone);
    const hash = this.#hashIn(publication, node.name);
    encodeNode(this.#buffer, node, publication, hash);
    const slot = this.#findSlot(node.name, publication, hash);
    const standing = slot < 0 ? 0 : this.#slots.blockAt(slot);
    if (slot >= 0 && memory.holds(standing, this.#buffer)) return toNodeRef(standing);
    publications.beforeNode(publication, countLabels(node.name), node.below);
    const block = memory.copy(this.#buffer);
    this.octets += this.#buffer.length;
    if (slot < 0) this.#insert(block, hash);
    else {
      this.#slots.replace(slot, block);
      this.#forget(standing);
    }
    return toNodeRef(block);
  }

  /** @returns whether it existed */
  remove(name: WireName, zone: ZoneId | undefined): boolean {
    const slot = this.#findSlotInZone(name, zone);
    if (slot >= 0) this.#removeAt(slot);
    return slot >= 0;
  }

  find(name: WireName, zone: ZoneId | undefined): NodeRef | undefined {
    const slot = this.#findSlotInZone(name, zone);
    return slot < 0 ? undefined : toNodeRef(this.#slots.blockAt(slot));
  }

  readNodeName(ref: NodeRef): WireName {
    const block = ref << UNIT_SHIFT;
    const start = block + this.#nameOffset(block);
    const length = (this.#views.words[(block + NODE.SHAPE) >> 2] ?? 0) & 0xff;
    // A copy of the WireName that was stored.
    return this.#views.octets.slice(start, start + length) as WireName;
  }

  /** Removes all nodes of a publication, some of them with each step. */
  *removeAll(publication: PublicationId): Generator<void, void> {
    for (const slots of this.#slots.stretches(STRETCH)) {
      for (const slot of slots) {
        const owner = this.#views.words[(this.#slots.blockAt(slot) + NODE.SHAPE) >> 2] ?? 0;
        if (owner >>> 8 === (KIND.NODE | (publication << 8))) this.#removeAt(slot);
      }
      yield;
    }
  }

  #hashIn(publication: PublicationId, name: Uint8Array): number {
    const { publications, keys } = this.#parts;
    return finishHash(hashName(name, keys) ^ publications.getSalt(publication));
  }

  #findSlotInZone(name: WireName, zone: ZoneId | undefined): number {
    const publication = zone === undefined ? DEFAULT_PUBLICATION : this.#parts.publications.ofZone(zone);
    return this.#findSlot(name, publication, this.#hashIn(publication, name));
  }

  #removeAt(slot: number): void {
    const block = this.#slots.blockAt(slot);
    this.#slots.remove(slot);
    this.#count(block, -1);
    this.#forget(block);
  }

  /** A node takes the slot of a cached answer if no other slot is free. */
  #insert(block: number, hash: number): void {
    // Readers skip a publication without nodes, so count the node first.
    this.#count(block, 1);
    while (!this.#slots.insert(hash, block)) {
      if (this.#parts.cache.evictNear(hash)) continue;
      this.#count(block, -1);
      this.#forget(block);
      throw new TableFullError(this.#buffer.length);
    }
  }

  #count(block: number, more: number): void {
    this.count += more;
    const owner = (this.#views.words[(block + NODE.SHAPE) >> 2] ?? 0) >>> 16;
    this.#parts.publications.countNodes(owner as PublicationId, more);
  }

  #findSlot(name: WireName, publication: PublicationId, hash: number): number {
    const shape = encodeShape(name.length, KIND.NODE, publication);
    return this.#slots.find(
      hash,
      (block) => this.#views.atoms[(block + NODE.SHAPE) >> 2] === shape && this.#hasName(block, name),
    );
  }

  #nameOffset(block: number): number {
    return NODE.TYPES + ((this.#views.words[(block + NODE.ZONE) >> 2] ?? 0) >>> 16) * 8;
  }

  #hasName(block: number, name: Uint8Array): boolean {
    const start = block + this.#nameOffset(block);
    const { octets } = this.#views;
    for (let at = 0; at < name.length; at++) if (octets[start + at] !== name[at]) return false;
    return true;
  }

  #forget(block: number): void {
    const { arena, reclaimer } = this.#parts.memory;
    const size = this.#views.words[(block + NODE.SIZE) >> 2] ?? 0;
    this.octets -= size;
    reclaimer.retire(() => arena.give(block, size));
  }
}

function toNodeRef(block: number): NodeRef {
  // References are made only here.
  return (block >> UNIT_SHIFT) as NodeRef;
}
