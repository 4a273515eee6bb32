/**
 * The first records of a stored answer, cut from its octets: a response over UDP has room for few of thousands.
 */
import type { AnswerBody } from './types.ts';

export interface CutBody {
  readonly body: AnswerBody;
  /** Whether answers are missing, so that the response must say so (TC). */
  readonly isCut: boolean;
}

/** Of a record after its owner: type, class, TTL and the length of its data. */
const FIXED_OCTETS = 10;

/**
 * Keeps as many answers as fit, and one record more of the other sections: who writes the response sees that they do not fit. Cutting
 * keeps names whole, since they are compressed against the question and earlier records.
 *
 * @param room octets of the records of a response
 * @param pick chooses the record that a rotating set starts at, from 0 to below `count`; undefined: keep the order
 */
export function cutBody(
  body: AnswerBody,
  room: number,
  pick: ((count: number) => number) | undefined,
): CutBody {
  if (body.bytes.length <= room) return { body, isCut: false };
  const { bytes, rotation } = body;
  const kept = { answerCount: 0, authorityCount: 0, additionalCount: 0 };
  let end = 0;
  for (const section of SECTIONS) {
    for (; kept[section] < body[section]; kept[section] += 1) {
      const next = end + recordLength(bytes, end);
      if (end > room || (section === 'answerCount' && next > room)) break;
      end = next;
    }
    // Without all answers, no other section has a place.
    if (kept[section] < body[section]) break;
  }
  const isCut = kept.answerCount < body.answerCount;
  const start = isCut && rotation !== undefined && pick !== undefined ? pick(rotation.count) : 0;
  const octets = start === 0 || rotation === undefined ? bytes.subarray(0, end) : rotate(body, start, end);
  return { body: { ...body, ...kept, bytes: octets, rotation: undefined }, isCut };
}

const SECTIONS = ['answerCount', 'authorityCount', 'additionalCount'] as const;

/** The first octets of a body whose run of addresses starts at another record. All of its records have one length. */
function rotate({ bytes, rotation }: AnswerBody, first: number, end: number): Uint8Array {
  const { start: from = 0, stride = 0, count = 0 } = rotation ?? {};
  const run = bytes.subarray(from, from + stride * count);
  const rotated = [run.subarray(first * stride), run.subarray(0, first * stride)];
  return Buffer.concat([bytes.subarray(0, from), ...rotated], end);
}

/** The length of the record at this octet. */
function recordLength(bytes: Uint8Array, at: number): number {
  let end = at;
  while ((bytes[end] ?? 0) !== 0 && (bytes[end] ?? 0) < 0xc0) end += (bytes[end] ?? 0) + 1;
  end += (bytes[end] ?? 0) === 0 ? 1 : 2;
  return end + FIXED_OCTETS + (((bytes[end + 8] ?? 0) << 8) | (bytes[end + 9] ?? 0)) - at;
}
