/**
 * The digest by which CoreDNS tells two configurations apart, logs and counts them: SHA-512 of the parsed blocks as JSON.
 *
 * Blanks inside a line do not count; lines do, so a comment on a line of its own makes another configuration.
 */
import { createHash } from 'node:crypto';
import type { BlockNode } from '../../corefile/syntax/parser.ts';
import type { Token } from '../../corefile/syntax/token.ts';

/** @param file The path of the Corefile; its own words have no file in the JSON. @returns 128 hexadecimal digits */
export function digestOf(blocks: readonly BlockNode[], file: string): string {
  const shown = blocks.map(({ keys, directives }) => ({
    Keys: keys.map(({ text }) => text),
    Tokens: Object.fromEntries(
      [...directives]
        .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
        .map(([name, { tokens }]) => [name, tokens.map((token) => showToken(token, file))]),
    ),
  }));
  return createHash('sha512')
    .update(escapeAsGo(JSON.stringify(shown)))
    .digest('hex');
}

function showToken({ text, position }: Token, file: string) {
  return { File: position.file === file ? '' : position.file, Line: position.line, Text: text };
}

/** Go writes these characters of JSON as escapes. */
function escapeAsGo(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
