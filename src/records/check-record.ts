/**
 * Checks that octets from a file are the record of a service or a slice: composers trust each offset and count in one.
 */

import { MADE_LABEL } from './endpoint-writer.ts';
import {
  DISTRIBUTION,
  DISTRIBUTION_MASK,
  DISTRIBUTION_SHIFT,
  EXTERNAL_TARGET_MASK,
  PLACES,
  PORT,
  PROTOCOLS,
  SECTION,
  SECTION_HAS_PLACES,
  SERVICE_KIND,
  SERVICE_RECORD,
  SLICE_RECORD,
} from './layout.ts';

const MAX_LABEL = 63;
const MAX_NAME = 255;

/** @param record in the byte order of the machine, a multiple of four octets */
export function isServiceRecord(record: Buffer): boolean {
  if (record.length < SERVICE_RECORD.ADDRESSES || record.readUInt32LE(SERVICE_RECORD.SIZE) !== record.length)
    return false;
  const head = record.readUInt32LE(0);
  const isKnown =
    Object.values<number>(SERVICE_KIND).includes(head & 0xff) &&
    ((head >>> 24) & EXTERNAL_TARGET_MASK) <= 2 &&
    ((head >>> DISTRIBUTION_SHIFT) & DISTRIBUTION_MASK) <= DISTRIBUTION.NODE;
  const portsAt = SERVICE_RECORD.ADDRESSES + ((head >>> 8) & 0xff) * 4 + ((head >>> 16) & 0xff) * 16;
  const externalAt = endOfPorts(record, portsAt, record.readUInt32LE(SERVICE_RECORD.PORTS));
  if (!isKnown || externalAt < 0) return false;
  const external = record.readUInt32LE(SERVICE_RECORD.EXTERNAL);
  const targetAt = externalAt + (external & 0xffff);
  const end = targetAt + (external >>> 16);
  return isPadded(record, end) && (external >>> 16 === 0 || isName(record, targetAt, end));
}

export function isSliceRecord(record: Buffer): boolean {
  if (record.length < SLICE_RECORD.FIRST || record.readUInt32LE(0) !== record.length) return false;
  let at: number = SLICE_RECORD.FIRST;
  for (let left = record.readUInt32LE(SLICE_RECORD.SECTIONS); left > 0; left--) {
    if (at + SECTION.ADDRESSES > record.length) return false;
    const size = record.readUInt32LE(at);
    if (size < SECTION.ADDRESSES || size % 4 !== 0 || at + size > record.length) return false;
    if (!isSection(record.subarray(at, at + size))) return false;
    at += size;
  }
  return at === record.length;
}

function isSection(section: Buffer): boolean {
  const counts = section.readUInt32LE(SECTION.COUNTS);
  const shape = section.readUInt32LE(SECTION.SHAPE);
  const [ready, all] = [counts & 0xffff, counts >>> 16];
  const octets = (shape >>> 16) & 0xff;
  const addressesEnd = SECTION.ADDRESSES + all * octets;
  if ((octets !== 4 && octets !== 16) || ready > all || addressesEnd > section.length) return false;
  const ports = section.readUInt32LE(SECTION.PORTS);
  const states = section.readUInt32LE(SECTION.STATES);
  const portsEnd = ports < addressesEnd ? -1 : endOfPorts(section, ports, shape & 0xffff);
  if (portsEnd < 0 || (states !== 0 && (states < portsEnd || states + all - ready > section.length)))
    return false;
  if ((shape & SECTION_HAS_PLACES) !== 0 && !arePlaces(section, portsEnd, ready)) return false;
  const labels = section.readUInt32LE(SECTION.LABELS);
  return (
    labels === 0 || (labels % 4 === 0 && labels >= addressesEnd && areLabels(section, labels, ready, ports))
  );
}

/** Whether the words of places and their lists are within the section. @param from where they may begin */
function arePlaces(section: Buffer, from: number, ready: number): boolean {
  const end = section.length - 4;
  const at = section.readUInt32LE(end);
  const listsAt = at + PLACES.WORDS + ready * 8;
  if (at < from || at % 4 !== 0 || listsAt > end) return false;
  for (let word = at + PLACES.WORDS; word < listsAt; word += 4) {
    const list = -section.readInt32LE(word);
    if (list <= 0) continue;
    if (list < listsAt || list % 4 !== 0 || list + 4 > end) return false;
    if (section.readUInt32LE(list) > (end - list - 4) / 4) return false;
  }
  return true;
}

/** Whether the words of labels lead to labels before the ports. */
function areLabels(section: Buffer, at: number, count: number, end: number): boolean {
  const first = at + count * 4;
  if (first > end) return false;
  for (let index = 0; index < count; index++) {
    const place = section.readInt32LE(at + index * 4) & ~MADE_LABEL;
    if (place === 0) continue;
    const length = place >= first && place < end ? (section[place] ?? 0) : 0;
    if (length < 1 || length > MAX_LABEL || place + 1 + length > end) return false;
  }
  return true;
}

/** The octet behind some ports, or -1. */
function endOfPorts(record: Buffer, first: number, count: number): number {
  let at = first;
  for (let left = count; left > 0; left--) {
    if (at + PORT.NAME > record.length || (record[at + PORT.PROTOCOL] ?? 0) >= PROTOCOLS.length) return -1;
    const length = record[at + PORT.LENGTH] ?? 0;
    if (length >= MAX_LABEL) return -1;
    at += PORT.NAME + length;
  }
  return at <= record.length ? at : -1;
}

const isPadded = (record: Buffer, end: number): boolean => end <= record.length && record.length - end < 4;

/** Whether octets are a name in wire form. */
function isName(record: Buffer, from: number, end: number): boolean {
  let at = from;
  while (at < end && (record[at] ?? 0) !== 0) {
    if ((record[at] ?? 0) > MAX_LABEL) return false;
    at += (record[at] ?? 0) + 1;
  }
  return at + 1 === end && end - from <= MAX_NAME;
}
