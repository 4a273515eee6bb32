/**
 * The verdict on the replies of two servers to one question, and the reason of a difference.
 */
import type { Question } from '@portolan/dns/types.ts';
import type { DifferingReplies } from '@portolan/kernel/deviations/differing-replies.ts';
import { type DescribedReply, describeReply } from './described-reply.ts';
import { differingParts, type JudgeRules, maskNameServer, maskSerials, NEAR_TTL } from './judge.ts';
import type { KnownDeviation } from './known-deviations.ts';
import type { QueryResponderReply } from './query-responder.ts';

/** The sides of a comparison, as the report calls them. */
export type Sides = readonly [one: string, other: string];

export type ReplyVerdict =
  | { readonly kind: 'equal' }
  /** Only TTLs differ: answers of a cache count down. */
  | { readonly kind: 'ttl' }
  | ReplyDifference;

export interface ReplyDifference {
  readonly kind: 'different';
  /** What differs, in a few words that many differences share. */
  readonly reason: string;
  /** The deliberate deviation of Portolan that this is, if the first side is the original; undefined: none is known. */
  readonly deviation: KnownDeviation | undefined;
  /** What each side said, in the parts that differ. */
  readonly said: readonly [one: Said, other: Said];
}

/** A failure, or the parts of a reply. */
export type Said = string | Readonly<Record<string, unknown>>;

const NEAR: JudgeRules = { ttl: NEAR_TTL, hasStars: false, allowsReasons: true };
const ANY_TTL: JudgeRules = { ...NEAR, ttl: Number.POSITIVE_INFINITY };
const SECTIONS = ['answer', 'authority', 'additional'] as const;

/** Finds the documented deviation that two replies show. */
export type FindDeviation = (replies: DifferingReplies) => KnownDeviation | undefined;

export function judgeReplies(
  question: Question,
  replies: readonly [QueryResponderReply, QueryResponderReply],
  sides: Sides,
  findDeviation: FindDeviation,
): ReplyVerdict {
  const [one, other] = replies;
  if (one.kind === 'failed' || other.kind === 'failed') {
    // Two servers that both give no answer do not say the same.
    const reason = replies
      .flatMap((reply, place) => (reply.kind === 'failed' ? [`${reply.reason} from ${sides[place]}`] : []))
      .join(', ');
    return { kind: 'different', reason, deviation: undefined, said: [saidBy(one), saidBy(other)] };
  }
  return judgeMessages(
    question,
    [maskOwn(describeReply(one.message)), maskOwn(describeReply(other.message))],
    sides,
    findDeviation,
  );
}

/** The same for replies whose own parts are masked. */
export function judgeMessages(
  question: Question,
  [one, other]: readonly [DescribedReply, DescribedReply],
  sides: Sides,
  findDeviation: FindDeviation,
): ReplyVerdict {
  const near = differingParts({ ...one }, { ...other }, NEAR);
  if (near.length === 0) return { kind: 'equal' };
  const parts = differingParts({ ...one }, { ...other }, ANY_TTL);
  if (parts.length === 0) return { kind: 'ttl' };
  const said = (reply: DescribedReply): Said =>
    Object.fromEntries(Object.entries(reply).filter(([part]) => parts.includes(part)));
  return {
    kind: 'different',
    reason: explainDifference(one, other, parts, sides),
    deviation: findDeviation({ question, one, other, parts }),
    said: [said(one), said(other)],
  };
}

function saidBy(reply: QueryResponderReply): Said {
  if (reply.kind === 'failed') return reply.reason;
  const { rcode, answer } = describeReply(reply.message);
  return { rcode, answer };
}

/**
 * A serial number that is a time, from 2001 to 2033, as those of clusters are: each server counts its own changes. Those of zone files,
 * such as 2024010101, are larger.
 */
const isTime = (serial: number) => serial === 0 || (serial > 1e9 && serial < 2e9);

/** Masks what each server has of its own: serial numbers, its addresses as name server, cookies. */
export function maskOwn(reply: DescribedReply): DescribedReply {
  const mask = (records: readonly string[]) =>
    records.map((record) => maskNameServer(maskSerials(record, isTime, '{SERIAL}')));
  const { answer, authority, additional, edns } = reply;
  const options = edns?.options.map(([kind, data]) => [kind, kind === 'cookie' ? '' : data] as const);
  return {
    ...reply,
    answer: mask(answer),
    authority: mask(authority),
    additional: mask(additional),
    ...(edns && options && { edns: { ...edns, options } }),
  };
}

/** The result in one word: of the replies without data NODATA. */
export function toResult({ rcode, answer }: DescribedReply): string {
  return rcode === 'NOERROR' && answer.length === 0 ? 'NODATA' : rcode;
}

function explainDifference(
  one: DescribedReply,
  other: DescribedReply,
  parts: readonly string[],
  sides: Sides,
): string {
  const was = toResult(one);
  const is = toResult(other);
  // Another result has other sections too.
  if (was !== is) return `${was} from ${sides[0]}, ${is} from ${sides[1]}`;
  return parts.map((part) => reasonOfPart(part, one, other, sides)).join('; ');
}

function reasonOfPart(part: string, one: DescribedReply, other: DescribedReply, sides: Sides): string {
  const section = SECTIONS.find((each) => each === part);
  if (section !== undefined)
    return `${part}: ${onlyAt('records', withoutTtls(one[section]), withoutTtls(other[section]), sides)}`;
  if (part === 'flags')
    return `flags: ${[one, other]
      .map(({ flags }, place) => {
        const rest = (place === 0 ? other : one).flags;
        const only = flags.filter((flag) => !rest.includes(flag));
        return only.length === 0 ? '' : `${only.join(' ')} only from ${sides[place]}`;
      })
      .filter((text) => text !== '')
      .join(', ')}`;
  if (part === 'edns') {
    if (one.edns === undefined) return `an OPT record only from ${sides[1]}`;
    if (other.edns === undefined) return `an OPT record only from ${sides[0]}`;
    return 'another OPT record';
  }
  return `another ${part}`;
}

function withoutTtls(records: readonly string[]): readonly string[] {
  return records.map((record) => record.replace(/^(\S+) \S+/, '$1'));
}

function onlyAt(what: string, ones: readonly string[], others: readonly string[], sides: Sides): string {
  const first = new Set(ones);
  const second = new Set(others);
  const isMissing = ones.some((each) => !second.has(each));
  const isMore = others.some((each) => !first.has(each));
  if (isMissing && isMore) return `other ${what}`;
  if (isMissing) return `${what} only from ${sides[0]}`;
  return isMore ? `${what} only from ${sides[1]}` : `repeated ${what}`;
}
