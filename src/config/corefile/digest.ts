/**
 * The digest that CoreDNS compares, logs and exports for a configuration: SHA-512 of the parsed blocks as JSON.
 *
 * Blanks within a line do not matter. Line numbers do, so adding a comment line changes the digest.
 */
import { createHash } from 'node:crypto';
import type { BlockNode } from '../../corefile/syntax/parser.ts';
import type { Token } from '../../corefile/syntax/token.ts';

/** @param file the path of the Corefile; the JSON omits it for the Corefile's own tokens @returns 128 hexadecimal digits */
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

/** Escapes the characters that Go escapes in JSON. */
function escapeAsGo(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
