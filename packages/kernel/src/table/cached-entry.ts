/**
 * Reads cached answers back from the table's memory: the writer needs them for stale answers, prefetching and dumps.
 */
import type { PassedErrors } from '@portolan/dns/extended-error.ts';
import type { WireName } from '@portolan/dns/types.ts';
import {
  BODY,
  BODY_AUTHENTIC,
  BODY_AUTHORITATIVE,
  BODY_LENGTH_SHIFT,
  CACHED,
  CACHED_FLAG,
  endOfBody,
  padded,
  STORED_PART,
} from './layout.ts';
import type { TableViews } from './memory.ts';
import type { AnswerBody, CachedEntry, ViewId } from './types.ts';

function decodeBody({ octets, words }: TableViews, start: number): AnswerBody {
  const at = (field: number): number => words[(start + field) >> 2] ?? 0;
  const flags = at(BODY.FLAGS);
  const additionals = at(BODY.ADDITIONALS);
  const rotation = at(BODY.ROTATION);
  const records = start + BODY.RECORDS;
  return {
    rcode: flags & 0x0f,
    authoritative: (flags & BODY_AUTHORITATIVE) !== 0,
    authenticData: (flags & BODY_AUTHENTIC) !== 0,
    answerCount: at(BODY.ANSWERS) & 0xffff,
    authorityCount: at(BODY.ANSWERS) >>> 16,
    additionalCount: additionals & 0xffff,
    bytes: octets.slice(records, records + (flags >>> BODY_LENGTH_SHIFT)),
    rotation:
      rotation >>> 16 > 0
        ? { start: rotation & 0xffff, stride: additionals >>> 16, count: rotation >>> 16 }
        : undefined,
  };
}

function decodePassedErrors({ octets, words }: TableViews, body: number): PassedErrors {
  const at = endOfBody(words, body);
  // A copy of those that were stored.
  return octets.slice(at + 4, at + 4 + (words[at >> 2] ?? 0)) as PassedErrors;
}

/** @param block where the entry lies; its memory is copied */
export function decodeCached(views: TableViews, block: number, view: ViewId, used: boolean): CachedEntry {
  const { octets, words } = views;
  const at = (field: number): number => words[(block + field) >> 2] ?? 0;
  const nameLength = at(CACHED.SHAPE) & 0xff;
  const flags = at(CACHED.FLAGS);
  const offsets = block + CACHED.NAME + padded(nameLength);
  return {
    // A copy of the WireName that was stored.
    name: octets.slice(block + CACHED.NAME, block + CACHED.NAME + nameLength) as WireName,
    type: at(CACHED.QUESTION) & 0xffff,
    class: at(CACHED.QUESTION) >>> 16,
    dnssecOk: (flags & CACHED_FLAG.DNSSEC_OK) !== 0,
    checkingDisabled: (flags & CACHED_FLAG.CHECKING_DISABLED) !== 0,
    ...((flags & CACHED_FLAG.BEFORE_CACHE) !== 0 && { beforeCache: true }),
    ...((flags & CACHED_FLAG.OVER_IPV6) !== 0 && { overIpv6: true }),
    recursionAvailable: (flags & CACHED_FLAG.RECURSION_AVAILABLE) !== 0,
    ...((flags & CACHED_FLAG.HELD_ONCE_STALE) !== 0 && { isHeldOnceStale: true }),
    ...((flags & CACHED_FLAG.PASSED_ERRORS) !== 0 && {
      passedErrors: decodePassedErrors(views, block + at(CACHED.BODY)),
    }),
    outcome: at(CACHED.OUTCOME),
    body: decodeBody(views, block + at(CACHED.BODY)),
    ttlOffsets: copyNumbers(new Uint16Array(octets.buffer, offsets, flags >>> 16)),
    stored: at(CACHED.STORED),
    storedAt:
      (at(CACHED.STORED) + ((flags >> STORED_PART.SHIFT) & STORED_PART.MASK) / STORED_PART.PARTS) * 1000,
    expires: at(CACHED.EXPIRES),
    lifetime: at(CACHED.EXPIRES) - at(CACHED.STORED),
    freshUntil: at(CACHED.FRESH_UNTIL),
    view,
    used,
  };
}

/** Thousands, of a large answer: an iterator would take a hundred microseconds. */
function copyNumbers(numbers: Uint16Array): readonly number[] {
  const copy: number[] = [];
  for (let index = 0; index < numbers.length; index += 1) copy.push(numbers[index] ?? 0);
  return copy;
}
