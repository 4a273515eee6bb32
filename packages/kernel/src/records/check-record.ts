/**
 * Checks that octets from a file are the record of a service or a slice: composers trust each offset and count in one.
 *
 * Records are checked where they lie, from `at` to `end`, both multiples of four.
 */
import { MADE_LABEL } from './endpoint-writer.ts';
import {
  DISTRIBUTION,
  DISTRIBUTION_MASK,
  DISTRIBUTION_SHIFT,
  EXTERNAL_TARGET,
  EXTERNAL_TARGET_MASK,
  PLACES,
  PORT,
  PROTOCOL_MASK,
  PROTOCOLS,
  SECTION,
  SECTION_HAS_PLACES,
  SERVICE_KIND,
  SERVICE_RECORD,
  SLICE_RECORD,
  SLICE_TARGETS,
} from './layout.ts';

const MAX_LABEL = 63;
const MAX_NAME = 255;

/** Memory with records, in the byte order of the machine. */
export interface RecordMemory {
  readonly octets: Uint8Array;
  readonly words: Uint32Array;
}

export function isServiceRecord(memory: RecordMemory, at: number, end: number): boolean {
  const { words } = memory;
  if (at + SERVICE_RECORD.ADDRESSES > end || words[(at + SERVICE_RECORD.SIZE) >> 2] !== end - at)
    return false;
  const head = words[at >> 2] ?? 0;
  const kind = head & 0xff;
  const isKnown =
    kind >= SERVICE_KIND.CLUSTER &&
    kind <= SERVICE_KIND.EXTERNAL &&
    ((head >>> 24) & EXTERNAL_TARGET_MASK) <= EXTERNAL_TARGET.ADDRESS &&
    ((head >>> DISTRIBUTION_SHIFT) & DISTRIBUTION_MASK) <= DISTRIBUTION.NODE;
  const portsAt = at + SERVICE_RECORD.ADDRESSES + ((head >>> 8) & 0xff) * 4 + ((head >>> 16) & 0xff) * 16;
  const externalAt = isKnown
    ? endOfPorts(memory.octets, portsAt, words[(at + SERVICE_RECORD.PORTS) >> 2] ?? 0, end, PROTOCOL_MASK)
    : -1;
  if (externalAt < 0) return false;
  const external = words[(at + SERVICE_RECORD.EXTERNAL) >> 2] ?? 0;
  const targetAt = externalAt + (external & 0xffff);
  const targetEnd = targetAt + (external >>> 16);
  if (targetEnd > end || end - targetEnd >= 4) return false;
  if (targetAt === targetEnd) return ((head >>> 24) & EXTERNAL_TARGET_MASK) !== EXTERNAL_TARGET.NAME;
  return isName(memory.octets, targetAt, targetEnd);
}

export function isSliceRecord(memory: RecordMemory, at: number, end: number): boolean {
  const { words } = memory;
  if (at + SLICE_RECORD.FIRST > end || words[at >> 2] !== end - at) return false;
  let section = at + SLICE_RECORD.FIRST;
  for (let left = words[(at + SLICE_RECORD.SECTIONS) >> 2] ?? 0; left > 0; left--) {
    if (section + SECTION.ADDRESSES > end) return false;
    const size = words[section >> 2] ?? 0;
    if (size < SECTION.ADDRESSES || size % 4 !== 0 || section + size > end) return false;
    if (!isSection(memory, section, size)) return false;
    section += size;
  }
  return section === end || areTargets(memory, section, end);
}

/** Whether the names behind the sections, with their labels and ports, end where the record does. */
function areTargets({ octets, words }: RecordMemory, at: number, end: number): boolean {
  if (at + SLICE_TARGETS.PORTS > end) return false;
  const counts = words[at >> 2] ?? 0;
  let next = endOfPorts(octets, at + SLICE_TARGETS.PORTS, counts >>> 16, end);
  for (let left = counts & 0xffff; left > 0; left--) {
    if (next < 0 || next >= end) return false;
    const name = next + 1 + (octets[next] ?? 0);
    next = endOfName(octets, name, end);
    if (next < 0 || next - name > MAX_NAME) return false;
  }
  return next >= 0 && (counts & 0xffff) > 0 && end - next < 4;
}

/** The octet behind a name in wire form, or -1. */
function endOfName(octets: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && (octets[at] ?? 0) !== 0) {
    if ((octets[at] ?? 0) > MAX_LABEL) return -1;
    at += (octets[at] ?? 0) + 1;
  }
  return at < end ? at + 1 : -1;
}

/** Offsets in a section count from its start. */
function isSection(memory: RecordMemory, section: number, size: number): boolean {
  const { words } = memory;
  const counts = words[(section + SECTION.COUNTS) >> 2] ?? 0;
  const shape = words[(section + SECTION.SHAPE) >> 2] ?? 0;
  const ready = counts & 0xffff;
  const all = counts >>> 16;
  const octets = (shape >>> 16) & 0xff;
  const addressesEnd = SECTION.ADDRESSES + all * octets;
  if ((octets !== 4 && octets !== 16) || ready > all || addressesEnd > size) return false;
  const ports = words[(section + SECTION.PORTS) >> 2] ?? 0;
  const states = words[(section + SECTION.STATES) >> 2] ?? 0;
  if (ports < addressesEnd) return false;
  const portsEnd = endOfPorts(memory.octets, section + ports, shape & 0xffff, section + size) - section;
  if (portsEnd < 0 || (states !== 0 && (states < portsEnd || states + all - ready > size))) return false;
  if ((shape & SECTION_HAS_PLACES) !== 0 && !arePlaces(memory, section, size, portsEnd)) return false;
  const labels = words[(section + SECTION.LABELS) >> 2] ?? 0;
  // Only the label of an IPv4 address can be made from it at any time.
  if (labels === 0) return octets === 4 || ready === 0;
  return labels % 4 === 0 && labels >= addressesEnd && areLabels(memory, section, labels, ports);
}

/** Whether the words of places and their lists are within the section. @param from where they may begin */
function arePlaces({ words }: RecordMemory, section: number, size: number, from: number): boolean {
  const readWord = (place: number) => words[(section + place) >> 2] ?? 0;
  const ready = readWord(SECTION.COUNTS) & 0xffff;
  const end = size - 4;
  const at = readWord(end);
  const listsAt = at + PLACES.WORDS + ready * 8;
  if (at < from || at % 4 !== 0 || listsAt > end) return false;
  for (let place = at + PLACES.WORDS; place < listsAt; place += 4) {
    const list = -(readWord(place) | 0);
    if (list <= 0) continue;
    if (list < listsAt || list % 4 !== 0 || list + 4 > end) return false;
    if (readWord(list) > (end - list - 4) / 4) return false;
  }
  return true;
}

/** Whether the words of the labels of ready endpoints lead to labels before the ports. */
function areLabels({ octets, words }: RecordMemory, section: number, at: number, end: number): boolean {
  const count = (words[(section + SECTION.COUNTS) >> 2] ?? 0) & 0xffff;
  const isIpv4 = (((words[(section + SECTION.SHAPE) >> 2] ?? 0) >>> 16) & 0xff) === 4;
  const first = at + count * 4;
  if (first > end) return false;
  for (let index = 0; index < count; index++) {
    const place = (words[(section + at + index * 4) >> 2] ?? 0) & ~MADE_LABEL;
    if (place === 0 && isIpv4) continue;
    const length = place >= first && place < end ? (octets[section + place] ?? 0) : 0;
    if (length < 1 || length > MAX_LABEL || place + 1 + length > end) return false;
  }
  return true;
}

/** The octet behind some ports, or -1. @param mask of the protocol: only ports of services have application protocols */
function endOfPorts(octets: Uint8Array, first: number, count: number, end: number, mask = 0xff): number {
  let at = first;
  for (let left = count; left > 0; left--) {
    if (at + PORT.NAME > end || ((octets[at + PORT.PROTOCOL] ?? 0) & mask) >= PROTOCOLS.length) return -1;
    const length = octets[at + PORT.LENGTH] ?? 0;
    if (length >= MAX_LABEL) return -1;
    at += PORT.NAME + length;
  }
  return at <= end ? at : -1;
}

/** Whether octets are a name in wire form. */
function isName(octets: Uint8Array, from: number, end: number): boolean {
  return endOfName(octets, from, end) === end && end - from <= MAX_NAME;
}
