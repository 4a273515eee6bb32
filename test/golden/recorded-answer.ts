/**
 * Recorded answers, and our answers in the same form.
 */
import { rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import type { Message, ResourceRecord } from '@portolan/dns/types.ts';
import {
  differingParts,
  type JudgedResult,
  maskNameServer,
  maskSerials,
} from '@portolan/ops/compare/judge.ts';
import { readRecording } from '../support/recordings.ts';

/** Records as `name ttl type data`, in lower case and sorted. */
export interface RecordedAnswer {
  readonly name: string;
  readonly type: string;
  /** Or TIMEOUT, where the recorded server gave no answer. */
  readonly rcode: string;
  readonly aa: boolean;
  readonly answer: readonly string[];
  readonly authority: readonly string[];
  readonly additional: readonly string[];
}

type RecordedLine = Partial<RecordedAnswer> & Pick<RecordedAnswer, 'name' | 'type' | 'rcode'>;

export function readRecorded(dialect: 'coredns' | 'kube-dns'): readonly RecordedAnswer[] {
  const answers = readRecording<RecordedLine>(`test/golden/${dialect}.jsonl`);
  return answers.map((answer) => ({ aa: false, answer: [], authority: [], additional: [], ...answer }));
}

/** What was asked. */
export function readQuestions(): readonly Pick<RecordedAnswer, 'name' | 'type'>[] {
  return readRecording('test/golden/questions.jsonl');
}

export function recordMessage(message: Message): RecordedAnswer {
  const [asked] = message.questions;
  return {
    name: asked?.name ?? '',
    type: typeName(asked?.type ?? 0),
    rcode: rcodeName(message.header.rcode),
    aa: message.header.authoritative,
    answer: lines(message.answers),
    authority: lines(message.authorities),
    additional: lines(message.additionals),
  };
}

function lines(records: readonly ResourceRecord[]): readonly string[] {
  return records
    .map((record) => presentRecord(record).toLowerCase())
    .map(withoutClass)
    .sort();
}

function withoutClass(line: string): string {
  const [name, ttl, , type, ...data] = line.split(' ');
  return [name, ttl, type?.toUpperCase(), ...data].join(' ');
}

/** How two answers differ: the parts of each that do. Empty: they say the same. */
export function findAnswerDifferences(
  expected: RecordedAnswer,
  got: RecordedAnswer,
): Readonly<Record<string, unknown>> {
  const wanted = judged(expected);
  const given = judged(got);
  const parts = differingParts(wanted, given, { ttl: 0, hasStars: false });
  return Object.fromEntries(parts.map((part) => [part, { expected: wanted[part], got: given[part] }]));
}

function judged({ name, answer, authority, additional, ...rest }: RecordedAnswer): JudgedResult {
  const sections = {
    answer: maskRecords(answer),
    authority: maskRecords(authority),
    additional: maskRecords(additional),
  };
  return { ...rest, ...sections, name: name.toLowerCase() };
}

/** The records without what is the recorder's own: serial numbers, and the addresses of the name server. */
export function maskRecords(records: readonly string[]): readonly string[] {
  return records.map((record) => maskNameServer(maskSerials(record, () => true)));
}
