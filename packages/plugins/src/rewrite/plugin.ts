/**
 * `rewrite`: changes questions, and changes answers back.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseExactClass, parseExactType } from '@portolan/corefile/directive/type-names.ts';
import type { RewriteMode, RewriteOptions, RewriteRule } from './options.ts';
import { readEdnsRule } from './read-edns.ts';
import { readNameRule } from './read-name.ts';
import { readCnameRule, readRcodeRule, readTtlRule } from './read-response.ts';
import { createRewriteHandler } from './rewrite.ts';

/** Source: plugin/rewrite of CoreDNS 1.14.7. */
export const rewrite = definePlugin({
  name: 'rewrite',
  joinsBlocks: true,
  syntax: [
    'rewrite [continue|stop] name [exact|prefix|suffix|substring|regex] FROM TO [answer auto | answer name FROM TO | answer value FROM TO]…',
    'rewrite [continue|stop] type|class FROM TO',
    'rewrite [continue|stop] ttl [exact|prefix|suffix|substring|regex] NAME TTL|MIN-MAX|MIN-|-MAX',
    'rewrite [continue|stop] rcode [exact|prefix|suffix|substring|regex] NAME FROM TO',
    'rewrite [continue|stop] cname [exact|prefix|suffix|substring|regex] FROM TO',
    'rewrite [continue|stop] edns0 local set|append|replace CODE VALUE|{VARIABLE} [revert]',
    'rewrite [continue|stop] edns0 nsid|subnet set|append|replace [IPV4BITS IPV6BITS] [revert]',
    'rewrite [continue|stop] edns0 local|nsid|subnet unset [CODE]',
  ],
  read(cursor): RewriteOptions {
    const rules: RewriteRule[] = [];
    cursor.eachUse(() => {
      const words = [...cursor.remainingArguments()];
      // The long form has the rule in a block, over several lines.
      if (words.length < 2) while (cursor.nextInBlock()) words.push(cursor.word);
      rules.push(readRule(words, cursor));
    });
    return { rules };
  },
  create: (options, { lookUp }) => ({ handler: createRewriteHandler(options, lookUp) }),
});

function readRule(words: readonly string[], cursor: DirectiveCursor): RewriteRule {
  const [first, second] = words;
  const fault = (message: string) =>
    cursor.bareError(message, `Write it as one of:\n    ${rewrite.syntax.join('\n    ')}`);
  if (first === undefined) throw fault('no rule type specified for rewrite');
  const mode = first.toLowerCase();
  const hasMode = mode === 'continue' || mode === 'stop';
  if (hasMode && second === undefined) throw fault(`${mode} rule must begin with a rule type`);
  const field = (hasMode ? (second ?? '') : first).toLowerCase();
  const rest = words.slice(hasMode ? 2 : 1);
  const rule: { readonly mode: RewriteMode } = { mode: mode === 'continue' ? 'continue' : 'stop' };
  switch (field) {
    case 'name':
      return { ...rule, ...readNameRule(rest, cursor) };
    case 'type':
    case 'class':
      return { ...rule, ...readNumbers(field, rest, cursor) };
    case 'ttl':
      return { ...rule, ...readTtlRule(rest, cursor) };
    case 'rcode':
      return { ...rule, ...readRcodeRule(rest, cursor) };
    case 'cname':
      return { ...rule, ...readCnameRule(rest, cursor) };
    case 'edns0':
      return { ...rule, ...readEdnsRule(rest, cursor) };
    case 'answer':
      throw fault('response rewrites must begin with a name rule');
    default:
      throw fault(`invalid rule type ${JSON.stringify(first)}`);
  }
}

function readNumbers(
  field: 'type' | 'class',
  words: readonly string[],
  cursor: DirectiveCursor,
): { readonly field: 'type' | 'class'; readonly from: number; readonly to: number } {
  if (words.length !== 2)
    throw cursor.bareError(
      `${field} rules must have exactly two arguments`,
      `Give the ${field} to change, then the one to put in its place.`,
    );
  const [from = 0, to = 0] = words.map((word) => {
    const name = word.toUpperCase();
    const number = field === 'type' ? parseExactType(name) : parseExactClass(name);
    if (number === undefined)
      throw cursor.bareError(`invalid ${field} ${JSON.stringify(name)}`, `Give the name of a ${field}.`);
    return number;
  });
  return { field, from, to };
}
