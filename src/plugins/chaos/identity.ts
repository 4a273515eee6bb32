/**
 * Describes the server in class CHAOS: version, authors, host name.
 */
import type { Answer } from '../../chain/answer.ts';
import type { Handler } from '../../chain/handler.ts';
import { NO_QUESTIONS } from '../../chain/match.ts';
import type { Query } from '../../chain/query.ts';
import { EMPTY_ANSWER } from '../../chain/whole-answer.ts';
import { CLASS, type NameKey, TYPE } from '../../wire/types.ts';
import type { ChaosOptions } from './options.ts';

/** Maximum length of one string in a TXT record. */
const MAX_OCTETS = 255;

export interface IdentityDependencies {
  readonly hostName: string;
  /** Used if the options have no version. */
  readonly version: string;
  readonly authors: readonly string[];
}

export function createIdentityHandler(options: ChaosOptions, dependencies: IdentityDependencies): Handler {
  const { hostName } = dependencies;
  const { version = dependencies.version, authors = dependencies.authors } = options;
  const texts: ReadonlyMap<string, readonly string[]> = new Map([
    ['version.bind.', [version]],
    ['version.server.', [version]],
    ['authors.bind.', authors],
    ['hostname.bind.', [hostName]],
    ['id.server.', [hostName]],
  ]);
  return {
    name: 'chaos',
    role: 'other',
    answers: 'unchanged',
    // It answers only class CHAOS.
    questions: NO_QUESTIONS,
    answersClasses: 'chaos',
    handle: (query, next) => tell(query, textsFor(query, texts)) ?? next(query),
  };
}

function textsFor(
  { key, question }: Query,
  texts: ReadonlyMap<NameKey | string, readonly string[]>,
): readonly string[] | undefined {
  return question.class === CLASS.CH && question.type === TYPE.TXT ? texts.get(key) : undefined;
}

function tell({ question }: Query, texts: readonly string[] | undefined): Answer | undefined {
  if (texts === undefined) return undefined;
  const answers = texts.map((text) => ({
    name: question.name,
    class: CLASS.CH,
    ttl: 0,
    data: { kind: 'TXT', strings: [octetsOf(text).subarray(0, MAX_OCTETS)] } as const,
  }));
  return { ...EMPTY_ANSWER, answers };
}

/** Reads text as in a zone file: `\\DDD` is an octet, `\\X` is X, and a backslash at the end is ignored. */
function octetsOf(text: string): Uint8Array {
  const pieces = text.match(/\\\d{3}|\\.?|[^\\]+/gs) ?? [];
  return Buffer.concat(
    pieces.map((piece) => {
      if (!piece.startsWith('\\')) return Buffer.from(piece);
      const isOctet = piece.length === 4;
      return isOctet ? Buffer.of(Number(piece.slice(1)) & 0xff) : Buffer.from(piece.slice(1));
    }),
  );
}
