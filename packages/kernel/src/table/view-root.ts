/**
 * Writes the root of the views: which view answers a query, by its listener group, its client and the question's name.
 */
import { divideAddresses } from '@portolan/dns/address-intervals.ts';
import { CLASS_ACTION, CLASS_ASKS_ODD, CLIENT_CLASS, HEADER, UNIT_SHIFT, VIEW_ROOT } from './layout.ts';
import type { WriterMemory } from './memory.ts';
import { encodeNameTable } from './name-table.ts';
import type { ClientViews, ListenerGroupViews } from './types.ts';

const NO_CONTENT = new Uint8Array(0);
const NO_VIEW = 0;
const ACTIONS = {
  refused: CLASS_ACTION.REFUSE,
  dropped: CLASS_ACTION.DROP,
  asked: CLASS_ACTION.ASK,
} as const;

export class ViewRoot {
  readonly #memory: WriterMemory;
  readonly #hashWireName: (name: Uint8Array) => number;

  /** @param hashWireName the unsalted hash of a name */
  constructor(memory: WriterMemory, hashWireName: (name: Uint8Array) => number) {
    this.#memory = memory;
    this.#hashWireName = hashWireName;
  }

  /** @param groups undefined: all queries go to the default view */
  replace(groups: readonly ListenerGroupViews[] | undefined): void {
    const { arena, reclaimer, views } = this.#memory;
    const old = (views.atoms[HEADER.VIEW_ROOT] ?? 0) << UNIT_SHIFT;
    let block = 0;
    if (groups !== undefined) {
      const octets = encodeRoot(groups, this.#hashWireName);
      block = arena.take(octets.length);
      views.octets.set(octets, block);
    }
    Atomics.store(views.atoms, HEADER.VIEW_ROOT, block >> UNIT_SHIFT);
    if (old === 0) return;
    const size = views.words[(old + VIEW_ROOT.SIZE) >> 2] ?? 0;
    reclaimer.retire(() => arena.give(old, size));
  }
}

/** Parts of the block, one after the other. */
class BlockParts {
  readonly #parts: Uint8Array[] = [];
  length: number;

  constructor(start: number) {
    this.length = start;
  }

  /** @returns its offset */
  add(part: Uint8Array): number {
    const at = this.length;
    this.#parts.push(part);
    this.length += part.length;
    return at;
  }

  join(head: Uint8Array): Uint8Array {
    return Buffer.concat([head, ...this.#parts]);
  }
}

function encodeRoot(
  groups: readonly ListenerGroupViews[],
  hashWireName: (name: Uint8Array) => number,
): Uint8Array {
  const head = new Uint32Array((VIEW_ROOT.CLIENTS >> 2) + groups.length);
  const parts = new BlockParts(head.byteLength);
  const classes = new Map<ClientViews, number>();
  const addClass = (views: ClientViews): number => {
    const at = classes.get(views) ?? addClientClass(parts, views, hashWireName);
    classes.set(views, at);
    return at;
  };
  for (const [index, group] of groups.entries())
    head[(VIEW_ROOT.CLIENTS >> 2) + index] = addClients(parts, group, addClass);
  head[VIEW_ROOT.SIZE >> 2] = parts.length;
  head[VIEW_ROOT.GROUPS >> 2] = groups.length;
  return parts.join(toOctets(head));
}

function addClients(
  parts: BlockParts,
  { prefixes, others }: ListenerGroupViews,
  addClass: (views: ClientViews) => number,
): number {
  const otherwise = addClass(others);
  const classes = prefixes.map(({ range, views }) => [range, addClass(views)] as const);
  const ipv4 = divideAddresses(classes, 'ipv4', otherwise);
  const ipv6 = divideAddresses(classes, 'ipv6', otherwise);
  const counts = [ipv4.values.length, ipv6.values.length];
  const at = parts.add(toOctets(Uint32Array.from(counts)));
  for (const words of [ipv4.starts, ipv6.starts, ipv4.values, ipv6.values])
    parts.add(toOctets(Uint32Array.from(words)));
  return at;
}

function addClientClass(
  parts: BlockParts,
  views: ClientViews,
  hashWireName: (name: Uint8Array) => number,
): number {
  const words = new Uint32Array(CLIENT_CLASS.OCTETS >> 2);
  if (views.kind !== 'views') words[CLIENT_CLASS.SHAPE >> 2] = ACTIONS[views.kind];
  else {
    const root = views.zones.find(({ zone }) => zone.length === 1);
    const others = views.zones.filter(({ zone }) => zone.length > 1);
    const shown = root === undefined ? NO_VIEW : root.view + 1;
    words[CLIENT_CLASS.SHAPE >> 2] =
      CLASS_ACTION.VIEW | (views.asksOdd === true ? CLASS_ASKS_ODD : 0) | (shown << 8);
    const entries = others.map(({ zone, view }) => ({ name: zone, tag: view, content: NO_CONTENT }));
    if (entries.length > 0)
      words[CLIENT_CLASS.ZONES >> 2] = parts.add(encodeNameTable(entries, hashWireName));
  }
  return parts.add(toOctets(words));
}

const toOctets = (words: Uint32Array): Uint8Array => new Uint8Array(words.buffer);
