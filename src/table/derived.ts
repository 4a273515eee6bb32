/**
 * Whether the sources of a derived answer are unchanged, and where a redirect leads: the reader's side.
 */
import { HEADER_OCTETS } from '../wire/header.ts';
import { TYPE } from '../wire/types.ts';
import { finishHash } from './hash.ts';
import {
  BODY,
  BODY_LENGTH_SHIFT,
  CACHED,
  CACHED_FLAG,
  EMPTY,
  HEADER,
  KIND,
  NO_PUBLICATION,
  NODE,
  PAGE_SHIFT,
  PROBES,
  PUBLICATION,
  REDIRECT,
  REMOVED,
  SOURCES,
  shapeOf,
  UNIT_SHIFT,
} from './layout.ts';
import type { TableViews } from './memory.ts';

/** @param entry a cached answer, as an octet */
export function isCurrent({ atoms }: TableViews, entry: number): boolean {
  if (((atoms[(entry + CACHED.FLAGS) >> 2] ?? 0) & CACHED_FLAG.HAS_SOURCES) === 0) return true;
  const sources = (entry + (atoms[(entry + CACHED.BODY) >> 2] ?? 0) - SOURCES.OCTETS) >> 2;
  return (
    atoms[sources] === atoms[HEADER.PLAN_EPOCH] &&
    isAsItWas(atoms, atoms[sources + 1] ?? 0, atoms[sources + 2] ?? 0) &&
    isAsItWas(atoms, atoms[sources + 3] ?? 0, atoms[sources + 4] ?? 0)
  );
}

function isAsItWas(atoms: Int32Array, publication: number, epoch: number): boolean {
  if (publication === NO_PUBLICATION) return true;
  const directory = (atoms[HEADER.PUBLICATIONS] ?? 0) << (UNIT_SHIFT - 2);
  const record = (atoms[directory + publication] ?? 0) << (UNIT_SHIFT - 2);
  return record !== 0 && atoms[record + (PUBLICATION.EPOCH >> 2)] === epoch;
}

/**
 * The node of a redirect's target in a publication.
 *
 * @param redirect the entry, as an octet
 * @param publication its record, as a word
 * @returns an octet, or 0
 */
export function findTarget(views: TableViews, redirect: number, publication: number): number {
  const { atoms } = views;
  const content = redirect + (atoms[(redirect + CACHED.BODY) >> 2] ?? 0);
  const salt = atoms[publication + (PUBLICATION.SALT >> 2)] ?? 0;
  const id = atoms[publication + (PUBLICATION.ID >> 2)] ?? 0;
  const hash = finishHash((atoms[(content + REDIRECT.HASH) >> 2] ?? 0) ^ salt);
  const shape = shapeOf(targetLength(views, redirect), KIND.NODE, id);
  const index = atoms[HEADER.INDEX] ?? 0;
  const base = (index >>> 5) << (PAGE_SHIFT - 2);
  const mask = (1 << (index & 31)) - 1;
  for (let probe = 0; probe < PROBES; probe++) {
    const place = atoms[base + ((hash + probe) & mask)] ?? EMPTY;
    if (place === EMPTY) return 0;
    if (place === REMOVED) continue;
    const node = place << UNIT_SHIFT;
    if (atoms[node >> 2] !== hash || atoms[(node + NODE.SHAPE) >> 2] !== shape) continue;
    if (hasName(views, node, content + REDIRECT.NAME, shape & 0xff)) return node;
  }
  return 0;
}

/** The octet where the name of a redirect's target begins. */
export const targetAt = ({ atoms }: TableViews, redirect: number): number =>
  redirect + (atoms[(redirect + CACHED.BODY) >> 2] ?? 0) + REDIRECT.NAME;

/** The octets of that name. */
export function targetLength({ atoms }: TableViews, redirect: number): number {
  const content = redirect + (atoms[(redirect + CACHED.BODY) >> 2] ?? 0);
  return atoms[(content + REDIRECT.LENGTH) >> 2] ?? 0;
}

function hasName({ octets, words }: TableViews, node: number, name: number, length: number): boolean {
  const start = node + NODE.TYPES + ((words[(node + NODE.ZONE) >> 2] ?? 0) >>> 16) * 8;
  for (let at = 0; at < length; at++) if (octets[start + at] !== octets[name + at]) return false;
  return true;
}

/**
 * The octet of a node's body for an address type; 0 unless it is one record set whose records all have the owner's
 * name. Such records can be copied unchanged after a question for another name.
 */
export function findAddresses({ octets, words }: TableViews, node: number, type: number): number {
  const stride = type === TYPE.A ? 16 : 28;
  if (type !== TYPE.A && type !== TYPE.AAAA) return 0;
  let entry = (node + NODE.TYPES) >> 2;
  for (let left = (words[(node + NODE.ZONE) >> 2] ?? 0) >>> 16; left > 0; left--, entry += 2) {
    if (words[entry] !== type) continue;
    const body = node + (words[entry + 1] ?? 0);
    const answers = words[(body + BODY.ANSWERS) >> 2] ?? 0;
    const first = body + BODY.RECORDS;
    // An alias comes before its target, so the first record shows whether the answer has one.
    const isPlain =
      (words[(body + BODY.FLAGS) >> 2] ?? 0) >>> BODY_LENGTH_SHIFT === answers * stride &&
      octets[first] === 0xc0 &&
      octets[first + 1] === HEADER_OCTETS &&
      octets[first + 3] === type;
    return isPlain ? body : 0;
  }
  return 0;
}
