/**
 * Cached answers around their expiry: when to refetch them before it, and serve them stale after it (RFC 8767).
 */
import { RCODE, TYPE } from '@portolan/dns/types.ts';
import type { AnswerBody, CachedEntry } from '../../table/types.ts';

export interface StaleRules {
  /** Seconds after expiry in which an answer may be served; infinite: always. */
  readonly maxSeconds: number;
  /** The TTL in stale responses, in seconds. */
  readonly shownTtl: number;
}

/** The last part of its life in which a popular answer is refetched. */
const PREFETCH_SHARE = 0.1;
/** Answers with a shorter life, in seconds, are not prefetched: they would be refetched all the time. */
const MIN_PREFETCH_LIFETIME = 10;

/**
 * Whether to refetch an answer before it expires: it is positive, in use, and has at most a tenth of its life left.
 *
 * @param now seconds of the monotonic clock that all threads share
 */
export function isWorthPrefetching(entry: CachedEntry, now: number): boolean {
  const left = entry.expires - now;
  return (
    entry.used &&
    entry.lifetime >= MIN_PREFETCH_LIFETIME &&
    left > 0 &&
    left <= entry.lifetime * PREFETCH_SHARE &&
    isPositive(entry)
  );
}

/**
 * The body for serving an expired answer when no server has a new one: all its TTLs are `shownTtl`. Undefined if the
 * answer is too old, negative, a failure, or not expired.
 *
 * @param now seconds of the monotonic clock that all threads share
 */
export function staleBody(entry: CachedEntry, now: number, rules: StaleRules): AnswerBody | undefined {
  const since = now - entry.freshUntil;
  if (since < 0 || since > rules.maxSeconds || !isPositive(entry)) return undefined;
  const bytes = new Uint8Array(entry.body.bytes);
  const view = new DataView(bytes.buffer);
  for (const offset of entry.ttlOffsets) view.setUint32(offset, rules.shownTtl);
  // Signatures may have expired meanwhile.
  return { ...entry.body, authenticData: false, bytes };
}

/** Whether it has records of the requested type: a CNAME chain without an end does not. */
function isPositive({ body, type }: CachedEntry): boolean {
  if (body.rcode !== RCODE.NOERROR) return false;
  const view = new DataView(body.bytes.buffer, body.bytes.byteOffset, body.bytes.length);
  let at = 0;
  for (let count = 0; count < body.answerCount; count += 1) {
    at = behindName(body.bytes, at);
    const found = view.getUint16(at);
    if (found === type || type === TYPE.ANY) return true;
    at += 10 + view.getUint16(at + 8);
  }
  return false;
}

/** The offset after a name that we wrote: labels, then the root's or a pointer. */
function behindName(octets: Uint8Array, start: number): number {
  let at = start;
  for (;;) {
    const length = octets[at] ?? 0;
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2;
    at += length + 1;
  }
}
