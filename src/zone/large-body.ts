/**
 * Writes bodies of sets with thousands of records in parts, each within a fraction of a millisecond.
 */
import type { Steps } from '../base/steps.ts';
import type { AnswerBody } from '../table/types.ts';
import { type NameKey, RCODE, TYPE, type WireName } from '../wire/types.ts';
import { maxOctetsBehind, reuseMemory, writeAddresses, writeTargets } from './direct-body.ts';
import type { RecordSet } from './record-set.ts';

const ADDRESSES_PER_STEP = 1_000;
/** Few enough that pointers reach their targets and the records before them. */
const TARGETS_PER_STEP = 50;
/** Section counts have 16 bits. */
const MAX_RECORDS = 0xffff;
/** In a record whose owner is a pointer: the offset of the data length, and of the data. */
const LENGTH_AT = 10;
const FIXED_OCTETS = 12;

/** Bodies of nodes that are published together: names may share an address set, which is written only once. */
export class LargeBodies {
  readonly #ofAddresses = new Map<RecordSet, AnswerBody>();

  /** The body of an address set, as `writeAddresses` makes it for a small one. */
  *writeAddresses(set: RecordSet): Steps<AnswerBody> {
    const body = this.#ofAddresses.get(set) ?? (yield* writeManyAddresses(set));
    this.#ofAddresses.set(set, body);
    return body;
  }
}

function* writeManyAddresses(set: RecordSet): Steps<AnswerBody> {
  const parts: Uint8Array[] = [];
  const count = Math.min(set.data.length, MAX_RECORDS);
  for (let from = 0; from < count; from += ADDRESSES_PER_STEP) {
    const data = set.data.slice(from, Math.min(from + ADDRESSES_PER_STEP, count));
    parts.push(writePart(() => writeAddresses({ ...set, data })).bytes);
    yield;
  }
  const bytes = Buffer.concat(parts);
  return { ...EMPTY, answerCount: count, bytes, rotation: { start: 0, stride: bytes.length / count, count } };
}

/**
 * The body of an SRV set with as many records as a message can carry, and no additional records.
 *
 * @returns undefined if all of them fit, or if one cannot be written directly: use the general way
 */
export function* writeManyTargets(
  owner: NameKey,
  name: WireName,
  set: RecordSet,
): Steps<AnswerBody | undefined> {
  if (set.type !== TYPE.SRV) return undefined;
  const parts: Uint8Array[] = [];
  let [left, answerCount] = [maxOctetsBehind(name), 0];
  for (let from = 0; from < set.data.length; from += TARGETS_PER_STEP) {
    const data = set.data.slice(from, from + TARGETS_PER_STEP);
    const part = writePart(() => writeTargets(owner, name, { ...set, data, additional: [] }));
    if (part === undefined) return undefined;
    const fitting = cutRecords(part.bytes, left);
    parts.push(fitting.bytes);
    answerCount += fitting.count;
    left -= fitting.bytes.length;
    if (fitting.count < data.length) return { ...EMPTY, answerCount, bytes: Buffer.concat(parts) };
    yield;
  }
  return undefined;
}

const EMPTY = {
  ...{ rcode: RCODE.NOERROR, authoritative: true, answerCount: 0, authorityCount: 0, additionalCount: 0 },
  rotation: undefined,
} as const;

/** A copy, since the next part overwrites it. */
function writePart<Body extends AnswerBody | undefined>(write: () => Body): Body {
  reuseMemory();
  const body = write();
  return body && { ...body, bytes: body.bytes.slice() };
}

/** The first records in these octets, as many as fit into `max` octets. */
function cutRecords(bytes: Uint8Array, max: number): { readonly bytes: Uint8Array; readonly count: number } {
  let [end, count] = [0, 0];
  while (end < bytes.length) {
    const length = ((bytes[end + LENGTH_AT] ?? 0) << 8) | (bytes[end + LENGTH_AT + 1] ?? 0);
    if (end + FIXED_OCTETS + length > max) break;
    end += FIXED_OCTETS + length;
    count += 1;
  }
  return { bytes: bytes.subarray(0, end), count };
}
