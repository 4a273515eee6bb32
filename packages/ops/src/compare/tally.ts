/**
 * Counts verdicts, and keeps the first examples of each kind of difference. Its memory is bounded, whatever the servers say.
 */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { Question } from '@portolan/dns/types.ts';
import { textOfQuestion } from './asked-question.ts';
import type { ReplyDifference, ReplyVerdict, Said } from './judge-replies.ts';

export interface DifferenceKind {
  readonly reason: string;
  /** The deliberate deviation that explains it. */
  readonly deviation?: { readonly name: string; readonly text: string; readonly page: string };
  readonly count: number;
  readonly examples: readonly DifferenceExample[];
}

export interface DifferenceExample {
  readonly question: string;
  readonly said: readonly [one: Said, other: Said];
}

/** Milliseconds. */
export interface ComparedTimes {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface Counted {
  readonly questions: number;
  readonly equal: number;
  /** Equal but for TTLs, which count down in a cache. */
  readonly equalButTtl: number;
  /** Equal when both were asked again: at least one of them does not always answer alike. */
  readonly equalWhenAskedAgain: number;
  readonly different: number;
  /** Those of `different` that a deliberate deviation explains. */
  readonly known: number;
  /** The most frequent first, deliberate deviations last. */
  readonly kinds: readonly DifferenceKind[];
  /** Of each side; undefined without a reply. */
  readonly roundTrips: readonly [ComparedTimes | undefined, ComparedTimes | undefined];
}

interface GrowingKind extends Omit<DifferenceKind, 'count' | 'examples'> {
  count: number;
  readonly examples: DifferenceExample[];
}

/** Reasons have a few words each, so there are hardly more kinds than these. */
const MAX_KINDS = 200;
const FURTHER = 'further kinds of differences';
/** Of a section with thousands of records. */
const MAX_SHOWN_RECORDS = 8;
const MAX_SHOWN_LETTERS = 300;
const MICROSECONDS = 1000;
/** Microseconds. */
const MAX_ROUND_TRIP = 60e6;

export class Tally {
  readonly #maxExamples: number;
  readonly #kinds = new Map<string, GrowingKind>();
  readonly #histograms: readonly [RecordableHistogram, RecordableHistogram];
  readonly #counts = {
    questions: 0,
    equal: 0,
    equalButTtl: 0,
    equalWhenAskedAgain: 0,
    different: 0,
    known: 0,
  };

  /** @param maxExamples of each kind */
  constructor(maxExamples: number) {
    this.#maxExamples = maxExamples;
    const make = () => createHistogram({ lowest: 1, highest: MAX_ROUND_TRIP, figures: 3 });
    this.#histograms = [make(), make()];
  }

  add(question: Question, verdict: ReplyVerdict): void {
    const counts = this.#counts;
    counts.questions += 1;
    if (verdict.kind === 'equal') counts.equal += 1;
    else if (verdict.kind === 'ttl') counts.equalButTtl += 1;
    else this.#addDifference(question, verdict);
  }

  /** Counts a question on which both agreed only when they were asked again. */
  addUnsteady(): void {
    this.#counts.questions += 1;
    this.#counts.equalWhenAskedAgain += 1;
  }

  /** @param side 0 or 1 */
  addRoundTrip(side: 0 | 1, milliseconds: number): void {
    const microseconds = Math.round(milliseconds * MICROSECONDS);
    this.#histograms[side].record(Math.min(MAX_ROUND_TRIP, Math.max(1, microseconds)));
  }

  count(): Counted {
    const kinds = [...this.#kinds.values()].toSorted(
      (one, other) =>
        Number(one.deviation !== undefined) - Number(other.deviation !== undefined) ||
        other.count - one.count,
    );
    const [one, other] = this.#histograms;
    return { ...this.#counts, kinds, roundTrips: [computeRoundTrip(one), computeRoundTrip(other)] };
  }

  #addDifference(question: Question, { reason, deviation, said }: ReplyDifference): void {
    this.#counts.different += 1;
    if (deviation !== undefined) this.#counts.known += 1;
    const kind = this.#getOrCreateKind(reason, deviation);
    kind.count += 1;
    if (kind.examples.length >= this.#maxExamples) return;
    kind.examples.push({ question: textOfQuestion(question), said: [shorten(said[0]), shorten(said[1])] });
  }

  #getOrCreateKind(reason: string, deviation: ReplyDifference['deviation']): GrowingKind {
    const isFurther = this.#kinds.size >= MAX_KINDS;
    const key = `${deviation?.name ?? ''} ${reason}`;
    const known = this.#kinds.get(key) ?? (isFurther ? this.#kinds.get(FURTHER) : undefined);
    if (known !== undefined) return known;
    const made: GrowingKind = isFurther
      ? { reason: FURTHER, count: 0, examples: [] }
      : { reason, ...(deviation && { deviation }), count: 0, examples: [] };
    this.#kinds.set(isFurther ? FURTHER : key, made);
    return made;
  }
}

function computeRoundTrip(histogram: RecordableHistogram): ComparedTimes | undefined {
  if (histogram.count === 0) return undefined;
  const at = (percent: number) => histogram.percentile(percent) / MICROSECONDS;
  return { p50: at(50), p99: at(99), max: histogram.max / MICROSECONDS };
}

function shorten(said: Said): Said {
  if (typeof said === 'string') return said;
  return Object.fromEntries(
    Object.entries(said).map(([part, value]) => [part, Array.isArray(value) ? shortenList(value) : value]),
  );
}

function shortenList(list: readonly unknown[]): readonly unknown[] {
  const shown = list
    .slice(0, MAX_SHOWN_RECORDS)
    .map((each) =>
      typeof each === 'string' && each.length > MAX_SHOWN_LETTERS
        ? `${each.slice(0, MAX_SHOWN_LETTERS)}…`
        : each,
    );
  const rest = list.length - shown.length;
  return rest === 0 ? shown : [...shown, `${rest} more`];
}
