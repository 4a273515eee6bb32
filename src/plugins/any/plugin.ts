/**
 * `any`: answers questions for ANY with one HINFO record that calls them obsolete (RFC 8482 section 4.2), even if the name does not
 * exist. Source: plugin/any of CoreDNS 1.14.7.
 */
import type { Answer } from '../../chain/answer.ts';
import type { Handler } from '../../chain/handler.ts';
import { anyName } from '../../chain/match.ts';
import { EMPTY_ANSWER } from '../../chain/whole-answer.ts';
import { definePlugin } from '../../contract/define-plugin.ts';
import { readBareUse } from '../../corefile/directive/bare-directive.ts';
import { type AbsoluteName, CLASS, TYPE } from '../../wire/types.ts';

export const any = definePlugin({
  name: 'any',
  answers: true,
  syntax: ['any'],
  read(cursor): undefined {
    cursor.firstUse(() => readBareUse(cursor));
  },
  create: () => ({ handler: createObsoleteAnyHandler() }),
});

/** Seconds, after the number of the RFC. */
const TTL = 8482;

export function createObsoleteAnyHandler(): Handler {
  return {
    name: 'any',
    role: 'other',
    answers: 'unchanged',
    questions: anyName(new Set([TYPE.ANY])),
    handle: (query, next) =>
      query.question.type === TYPE.ANY ? sayObsolete(query.question.name) : next(query),
  };
}

function sayObsolete(name: AbsoluteName): Answer {
  const data = { kind: 'HINFO', cpu: Buffer.from('ANY obsoleted'), os: Buffer.from('See RFC 8482') } as const;
  return { ...EMPTY_ANSWER, answers: [{ name, class: CLASS.IN, ttl: TTL, data }] };
}
