/**
 * What a cluster learns from its nodes: where clients are, and which addresses pods and nodes have.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import type { OctetRange } from '@portolan/dns/range-map.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { ClientPlaces, type PlaceWords } from '@portolan/kernel/records/client-places.ts';
import { TableFullError } from '@portolan/kernel/table/arena.ts';
import type { RecordSpace } from '@portolan/kernel/table/record-space.ts';
import { NodeRanges, type NodeRangesTarget } from '../names/node-ranges.ts';
import type { NodeRangesObject, ObjectSink } from '../objects/objects.ts';
import { toPlaceWord } from '../records/fill-drafts.ts';
import type { NodesUse } from './nodes-use.ts';

export interface ClusterNodesHooks {
  /** Shows readers the new block of places. @throws TableFullError */
  readonly show: () => void;
  /** Ranges of pods and nodes have changed. */
  readonly rangesChanged: () => void;
}

export class ClusterNodes implements NodeRangesTarget {
  readonly use: NodesUse;
  readonly #places: ClientPlaces;
  readonly #ranges: NodeRanges;
  readonly #hooks: ClusterNodesHooks;
  readonly #log: Log;
  #haveRangesChanged = false;
  #isFull = false;

  constructor(use: NodesUse, space: RecordSpace, hooks: ClusterNodesHooks, log: Log) {
    this.use = use;
    this.#places = new ClientPlaces(space);
    this.#ranges = new NodeRanges(this);
    this.#hooks = hooks;
    this.#log = log;
  }

  get sink(): ObjectSink<NodeRangesObject> {
    return this.#ranges;
  }

  /** The octet of the block that says where clients are, 0 while nothing is known. */
  get block(): number {
    return this.#places.block;
  }

  /** Where a client is, for the handler chain. @param address as text */
  findPlace(address: string): PlaceWords | undefined {
    if (this.use.ownNode !== undefined) return this.#placeOfAll();
    const [text = ''] = address.split('%');
    const octets = parseAddress(text.startsWith('::ffff:') && text.includes('.') ? text.slice(7) : text);
    const node = octets && this.#ranges.findNode(octets);
    return node && toPlaceWords(node);
  }

  /** Whether an address is one of a pod or a node. @param octets 4 or 16 */
  has(octets: Uint8Array): boolean {
    return this.#ranges.findNode(octets) !== undefined;
  }

  placed(range: OctetRange, node: NodeRangesObject): void {
    this.#haveRangesChanged = true;
    if (!this.use.prefersZone || this.use.ownNode !== undefined) return;
    this.#guard(() => this.#places.place(range, toPlaceWords(node)));
  }

  forgotten(range: OctetRange): void {
    this.#haveRangesChanged = true;
    this.#places.forget(range);
  }

  changed(): void {
    if (this.use.prefersZone) {
      this.#places.placeAll(this.#placeOfAll());
      this.#guard(() => this.#places.renew(this.#hooks.show));
    }
    if (this.use.boundsEndpoints && this.#haveRangesChanged) this.#hooks.rangesChanged();
    this.#haveRangesChanged = false;
  }

  /** Forgets everything; readers are not shown it any more. */
  clear(): void {
    this.#places.clear();
  }

  #placeOfAll(): PlaceWords | undefined {
    const { ownNode } = this.use;
    const node = ownNode === undefined ? undefined : this.#ranges.find(ownNode);
    return node && toPlaceWords(node);
  }

  /** Clients without a place get all endpoints. */
  #guard(place: () => void): void {
    try {
      place();
      this.#isFull = false;
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      if (!this.#isFull) this.#log.error('places of clients not published, the answer table is full');
      this.#isFull = true;
    }
  }
}

function toPlaceWords({ name, zone }: NodeRangesObject): PlaceWords {
  return { zone: zone === undefined ? 0 : toPlaceWord(zone), node: toPlaceWord(name) };
}
