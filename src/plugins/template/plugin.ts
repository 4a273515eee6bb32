/**
 * `template`: answers made from templates.
 */

import type { Pattern } from '../../base/pattern.ts';
import { definePlugin } from '../../contract/define-plugin.ts';
import { type DirectiveContext, fallthroughZones, zonesOrBlock } from '../../corefile/directive/directive.ts';
import type { DirectiveCursor } from '../../corefile/directive/directive-cursor.ts';
import { parseUnsigned } from '../../corefile/directive/go-values.ts';
import { compilePattern } from '../../corefile/directive/patterns.ts';
import { exactClassOf, exactRcodeOf, exactTypeOf } from '../../corefile/directive/type-names.ts';
import type { TemplateOptions, TemplateRule } from './options.ts';
import { createTemplateHandler } from './template.ts';
import { TextTemplate, TextTemplateError } from './text-template/text-template.ts';

type Section = 'answer' | 'additional' | 'authority';
type Draft = { -readonly [Name in keyof TemplateRule]: TemplateRule[Name] };

/** Source: plugin/template of CoreDNS 1.14.7. Its properties `var` and `expr` are not supported. */
export const template = definePlugin({
  name: 'template',
  answers: true,
  joinsBlocks: true,
  syntax: [
    'template CLASS TYPE [ZONES…] {',
    '    match REGEX…',
    '    answer RECORD…',
    '    additional RECORD…',
    '    authority RECORD…',
    '    rcode CODE',
    '    ederror CODE [TEXT]',
    '    fallthrough [ZONES…]',
    '}',
  ],
  read(cursor, context): TemplateOptions {
    const templates: TemplateRule[] = [];
    cursor.eachUse(() => {
      templates.push(readTemplate(cursor, context));
    });
    return { templates };
  },
  create: (options, { lookUp: chain, metrics }) => ({
    handler: createTemplateHandler(options, { chain, metrics }),
  }),
});

function readTemplate(cursor: DirectiveCursor, context: DirectiveContext): TemplateRule {
  const classText = cursor.requiredArgument();
  const recordClass = exactClassOf(classText);
  if (recordClass === undefined)
    throw cursor.error(`invalid query class ${classText}`, 'Give IN, CH, HS or ANY, then the type.');
  const typeText = cursor.requiredArgument();
  const type = exactTypeOf(typeText);
  // CoreDNS writes "class" here too.
  if (type === undefined)
    throw cursor.error(`invalid RR class ${typeText}`, 'Give a type in capitals, as in AAAA.');
  const draft: Draft = {
    class: recordClass,
    type,
    zones: zonesOrBlock(cursor.remainingArguments(), context),
    patterns: [],
    answer: [],
    additional: [],
    authority: [],
    rcode: 0,
    extendedError: undefined,
    fallthrough: [],
  };
  readProperties(cursor, draft);
  return draft;
}

function readProperties(cursor: DirectiveCursor, draft: Draft): void {
  const unbuilt = (name: string) => () => {
    throw cursor.bareError(
      `${name} is not built into Portolan`,
      'Use match with a regular expression instead.',
    );
  };
  const section = (name: Section) => () => {
    draft[name] = [...draft[name], ...readRecords(name, cursor)];
  };
  const known = {
    match: () => {
      draft.patterns = [...draft.patterns, ...readPatterns(cursor)];
    },
    answer: section('answer'),
    additional: section('additional'),
    authority: section('authority'),
    rcode: () => {
      draft.rcode = readRcode(cursor);
    },
    ederror: () => {
      draft.extendedError = readExtendedError(cursor);
    },
    fallthrough: () => {
      draft.fallthrough = fallthroughZones(cursor.remainingArguments());
    },
    upstream: () => {
      cursor.remainingArguments();
      cursor.warn('"upstream" has had no effect since CoreDNS 1.7.0. Take it out.');
    },
    var: unbuilt('var'),
    expr: unbuilt('expr'),
  };
  cursor.properties(known, () =>
    cursor.argumentError('Known here: match, answer, additional, authority, rcode, ederror, fallthrough.'),
  );
}

function readPatterns(cursor: DirectiveCursor): readonly Pattern[] {
  const sources = cursor.remainingArguments();
  if (sources.length === 0) throw cursor.argumentError('Give a regular expression.');
  return sources.map((source) =>
    compilePattern(source, {
      tooLong: (lengths) => cursor.error(`regex pattern too long: ${lengths}`, 'Write a shorter expression.'),
      invalid: (fault) =>
        cursor.error(
          `could not parse regex: ${source}, ${fault}`,
          'Correct the expression; its syntax is that of Go.',
        ),
    }),
  );
}

function readRecords(name: Section, cursor: DirectiveCursor): readonly TextTemplate[] {
  const sources = cursor.remainingArguments();
  if (sources.length === 0)
    throw cursor.argumentError('Give a record in quotation marks, as in "{{ .Name }} 60 IN A 192.0.2.1".');
  return sources.map((source) => {
    try {
      return new TextTemplate(name, source);
    } catch (error) {
      if (!(error instanceof TextTemplateError)) throw error;
      const remedy =
        'Correct the template; its language is that of Go, and environment variables are replaced before.';
      throw cursor.error(`could not compile template: ${cursor.word}, ${error.message}`, remedy);
    }
  });
}

function readRcode(cursor: DirectiveCursor): number {
  const text = cursor.requiredArgument();
  const rcode = exactRcodeOf(text);
  if (rcode === undefined)
    throw cursor.error(`unknown rcode ${text}`, 'Give it in capitals, as in NXDOMAIN.');
  return rcode;
}

function readExtendedError(cursor: DirectiveCursor): TemplateRule['extendedError'] {
  const [codeText = '', text = ''] = cursor.remainingBetween(1, 2);
  const code = parseUnsigned(codeText, 10, 16);
  if (code.kind === 'good') return { code: code.value, text };
  throw cursor.error(
    `error parsing extended DNS error code ${cursor.word}, ${code.fault}`,
    'Give a number from 0 to 65535, then a text in quotation marks.',
  );
}
