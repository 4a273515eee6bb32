/**
 * Counts the names that search lists make, by namespace, exactly: each thread in the memory of its ring.
 *
 * The first domain of a pod's search list is `NAMESPACE.svc.DOMAIN`. A name of two or more labels before it that does not exist
 * comes from such a list, and names the namespace of the pod: `www.example.com.shop.svc.cluster.local`.
 */
import { LOWER_CASE } from '@portolan/dns/label.ts';
import { readName } from '@portolan/dns/name-wire.ts';
import { CONTROL, CONTROL_OCTETS } from './event-ring.ts';
import {
  LABEL_OCTETS,
  MAX_SUFFIX_OCTETS,
  NAMESPACE_PLACES,
  PLACE_OCTETS,
  SEARCH_OCTETS,
} from './search-layout.ts';

/** Labels that a name has in front of the namespace: the name that was looked for. */
const MIN_LABELS = 2;
const MAX_LABELS = 128;
/** Labels before `svc` of the name of an endpoint. */
const MAX_OF_ENDPOINT = 3;
/** The labels of names of services and of pods, in wire form. */
const SVC = Uint8Array.of(3, 0x73, 0x76, 0x63);
const POD = Uint8Array.of(3, 0x70, 0x6f, 0x64);
/** Octets of a label. */
const MAX_LABEL = LABEL_OCTETS - 1;
/** Places that are looked at for a namespace. */
const MAX_PROBES = 16;
const UNDERSCORE = 0x5f;

interface SearchViews {
  readonly control: Int32Array;
  readonly suffix: Uint8Array;
  readonly suffixView: DataView;
  readonly places: Uint8Array;
  readonly counts: Int32Array;
}

function viewCounts(memory: SharedArrayBuffer): SearchViews {
  const placesAt = CONTROL_OCTETS + MAX_SUFFIX_OCTETS;
  return {
    control: new Int32Array(memory, 0, CONTROL_OCTETS / 4),
    suffix: new Uint8Array(memory, CONTROL_OCTETS, MAX_SUFFIX_OCTETS),
    suffixView: new DataView(memory, CONTROL_OCTETS, MAX_SUFFIX_OCTETS),
    places: new Uint8Array(memory, placesAt, SEARCH_OCTETS - MAX_SUFFIX_OCTETS),
    counts: new Int32Array(memory, placesAt, (SEARCH_OCTETS - MAX_SUFFIX_OCTETS) / 4),
  };
}

/** The end of the thread that answers. It allocates nothing for a query. */
export class SearchCounter {
  readonly #views: SearchViews;
  /** Where the labels of the current name begin. */
  readonly #labels = new Int32Array(MAX_LABELS);

  constructor(memory: SharedArrayBuffer) {
    this.#views = viewCounts(memory);
  }

  /** Counts a name that does not exist, if a search list made it. @param at where it begins, in wire form without pointers */
  count(view: DataView, at: number): void {
    const shape = Atomics.load(this.#views.control, CONTROL.SUFFIX);
    if (shape === 0 || at + 1 >= view.byteLength) return;
    if (view.getUint8(at + 1) === UNDERSCORE) return;
    let labels = 0;
    let end = at;
    for (let length = view.getUint8(end); length !== 0; length = view.getUint8(end)) {
      if (labels === MAX_LABELS || length > MAX_LABEL) return;
      this.#labels[labels++] = end;
      end += length + 1;
      if (end >= view.byteLength) return;
    }
    const first = labels - (shape >>> 16);
    if (first <= MIN_LABELS) return;
    const suffixAt = this.#labels[first] ?? 0;
    if (end - suffixAt !== (shape & 0xffff) || !this.#hasSuffix(view, suffixAt, end)) return;
    this.#add(view, this.#labels[first - 1] ?? 0);
  }

  /**
   * Whether a name in the cluster's domain is one that no service, endpoint or pod can have: as a rule a search list made it. In
   * `example.com.shop.svc` the first label may be that of an endpoint.
   *
   * @param at where it begins, in wire form without pointers
   */
  isSearched(octets: Uint8Array, at: number): boolean {
    const shape = Atomics.load(this.#views.control, CONTROL.SUFFIX);
    if (shape === 0 || octets[at + 1] === UNDERSCORE) return false;
    let labels = 0;
    let end = at;
    for (let length = octets[end] ?? 0; length !== 0; length = octets[end] ?? 0) {
      if (labels === MAX_LABELS || length > MAX_LABEL) return false;
      this.#labels[labels++] = end;
      end += length + 1;
    }
    // The suffix is `svc` and the domain.
    const kind = labels - (shape >>> 16);
    const domainAt = this.#labels[kind + 1] ?? 0;
    if (kind < 0 || kind + 1 >= labels || !this.#isDomain(octets, domainAt, end, shape & 0xffff))
      return false;
    const label = this.#labels[kind] ?? 0;
    return isLabel(octets, label, SVC) ? kind > MAX_OF_ENDPOINT : !isLabel(octets, label, POD);
  }

  #isDomain(octets: Uint8Array, from: number, end: number, suffixOctets: number): boolean {
    const { suffix } = this.#views;
    if (end - from !== suffixOctets - SVC.length) return false;
    for (let at = from; at < end; at++)
      if (LOWER_CASE[octets[at] ?? 0] !== suffix[at - from + SVC.length]) return false;
    return true;
  }

  #hasSuffix(view: DataView, from: number, end: number): boolean {
    const { suffix, suffixView } = this.#views;
    let at = from;
    // Most names are in lower case.
    while (at + 4 <= end && view.getUint32(at) === suffixView.getUint32(at - from)) at += 4;
    for (; at < end; at++) if (LOWER_CASE[view.getUint8(at)] !== suffix[at - from]) return false;
    return true;
  }

  #add(view: DataView, label: number): void {
    const { counts, places, control } = this.#views;
    const octets = view.getUint8(label) + 1;
    let hash = 0;
    for (let at = 0; at < octets; at++)
      hash = Math.imul(hash ^ (LOWER_CASE[view.getUint8(label + at)] ?? 0), 0x01000193);
    for (let probe = 0; probe < MAX_PROBES; probe++) {
      const place = (((hash >>> 8) + probe) & (NAMESPACE_PLACES - 1)) * PLACE_OCTETS;
      if (places[place] === 0)
        for (let at = 0; at < octets; at++) places[place + at] = LOWER_CASE[view.getUint8(label + at)] ?? 0;
      if (!this.#isAt(place, view, label, octets)) continue;
      // Readers look at the label only where the count is not 0.
      Atomics.add(counts, (place + LABEL_OCTETS) >> 2, 1);
      return;
    }
    Atomics.add(control, CONTROL.OTHERS, 1);
  }

  #isAt(place: number, view: DataView, label: number, octets: number): boolean {
    const { places } = this.#views;
    for (let at = 0; at < octets; at++)
      if (places[place + at] !== LOWER_CASE[view.getUint8(label + at)]) return false;
    return true;
  }
}

function isLabel(octets: Uint8Array, from: number, label: Uint8Array): boolean {
  for (let at = 0; at < label.length; at++)
    if (LOWER_CASE[octets[from + at] ?? 0] !== label[at]) return false;
  return true;
}

/** Sets the suffix of the names to count from now on. @param wire in lower case, with its final 0; empty: none */
export function setSearchSuffix(memory: SharedArrayBuffer, wire: Uint8Array): void {
  const { control, suffix } = viewCounts(memory);
  if (wire.length > MAX_SUFFIX_OCTETS || wire.length === 0) {
    Atomics.store(control, CONTROL.SUFFIX, 0);
    return;
  }
  // The octets behind the last length octet, 0, do not count.
  const octets = wire.length - 1;
  let labels = 0;
  for (let at = 0; at < octets; at += (wire[at] ?? 0) + 1) labels++;
  suffix.set(wire);
  Atomics.store(control, CONTROL.SUFFIX, octets | (labels << 16));
}

/** A label in wire form as text, with escapes for all that a terminal might take for something else. */
function readLabel(places: Uint8Array, at: number): string {
  const name = Uint8Array.from([...places.subarray(at, at + 1 + (places[at] ?? 0)), 0]);
  return readName(name, 0).name.slice(0, -1);
}

/** The counts of a ring by namespace, modulo 2^32. The empty name: namespaces without a count of their own. */
export function readSearchCounts(memory: SharedArrayBuffer): ReadonlyMap<string, number> {
  const { control, counts, places } = viewCounts(memory);
  const found = new Map<string, number>();
  for (let place = 0; place < places.length; place += PLACE_OCTETS) {
    const count = Atomics.load(counts, (place + LABEL_OCTETS) >> 2) >>> 0;
    if (count === 0) continue;
    found.set(readLabel(places, place), count);
  }
  const others = Atomics.load(control, CONTROL.OTHERS) >>> 0;
  if (others > 0) found.set('', others);
  return found;
}
