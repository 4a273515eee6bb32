/**
 * The messages of the log, from the source: the literal first arguments of calls of a log, with `…` for what differs.
 */
import { readProgramFiles } from '../support/sources.ts';

export interface LoggedMessage {
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  readonly text: string;
}

const CALL =
  /\b\w*(?:log|warnings?)\w*\)?\??\.(error|warn|info|debug)\(\s*('(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)/gi;
/** The messages of an `OutageLog`: a warning when it begins, and its end. */
const OUTAGE = /new OutageLog\([^{]*\{\s*failed: '([^']*)',\s*ended: '([^']*)'/g;

/** Each message of the program once, sorted by its text. */
export function listLoggedMessages(): readonly LoggedMessage[] {
  const found = new Map<string, LoggedMessage>();
  for (const { text } of readProgramFiles())
    for (const message of findMessages(text)) found.set(`${message.level} ${message.text}`, message);
  return [...found.values()].sort((a, b) => (a.text.toLowerCase() < b.text.toLowerCase() ? -1 : 1));
}

function findMessages(source: string): readonly LoggedMessage[] {
  const calls = [...source.matchAll(CALL)].map(
    ([, level = '', literal = '']): LoggedMessage => ({
      level: level.toLowerCase() as LoggedMessage['level'], // By the expression.
      text: parseLiteral(literal),
    }),
  );
  const outages = [...source.matchAll(OUTAGE)].flatMap(([, failed = '', ended = '']): LoggedMessage[] => [
    { level: 'warn', text: failed },
    { level: 'info', text: ended },
  ]);
  return [...calls, ...outages].filter(({ text }) => /[a-z]{3}/.test(text.replaceAll('…', '')));
}

/** The text of a literal. */
function parseLiteral(literal: string): string {
  return literal
    .slice(1, -1)
    .replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, '…')
    .replaceAll(/\\(.)/g, '$1')
    .replaceAll(/…+/g, '…')
    .trim();
}
