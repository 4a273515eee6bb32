/**
 * `template`: answers made from templates.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import {
  type DirectiveContext,
  type Draft,
  fallthroughZones,
  zonesOrBlock,
} from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor, DirectiveError } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseUnsigned } from '@portolan/corefile/directive/go-values.ts';
import { compilePattern } from '@portolan/corefile/directive/patterns.ts';
import { parseExactClass, parseExactRcode, parseExactType } from '@portolan/corefile/directive/type-names.ts';
import type { EnvironmentTypes } from '@portolan/corefile/expression/check/checker.ts';
import { type Expression, readExpression } from '@portolan/corefile/expression/expression.ts';
import { ExpressionError } from '@portolan/corefile/expression/syntax/expression-error.ts';
import type { GoType } from '@portolan/corefile/expression/types/go-type.ts';
import type { Pattern } from '@portolan/kernel/base/pattern.ts';
import type { TemplateOptions, TemplateRule, TemplateVariable } from './options.ts';
import { createTemplateHandler } from './template.ts';
import { isReservedName, TEMPLATE_TYPES, variableType } from './template-expressions.ts';
import { TextTemplate, TextTemplateError } from './text-template/text-template.ts';

type TemplateSection = 'answer' | 'additional' | 'authority';

/** Source: plugin/template of CoreDNS 1.14.7. */
export const template = definePlugin({
  name: 'template',
  answers: true,
  joinsBlocks: true,
  syntax: [
    'template CLASS TYPE [ZONES…] {',
    '    match REGEX…',
    '    var NAME EXPRESSION',
    '    expr EXPRESSION',
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
  create: (options, { lookUp: chain, metrics, clock }) => ({
    handler: createTemplateHandler(options, { chain, metrics, clock }),
  }),
});

function readTemplate(cursor: DirectiveCursor, context: DirectiveContext): TemplateRule {
  const classText = cursor.requiredArgument();
  const recordClass = parseExactClass(classText);
  if (recordClass === undefined)
    throw cursor.error(`invalid query class ${classText}`, 'Give IN, CH, HS or ANY, then the type.');
  const typeText = cursor.requiredArgument();
  const type = parseExactType(typeText);
  // CoreDNS writes "class" here too.
  if (type === undefined)
    throw cursor.error(`invalid RR class ${typeText}`, 'Give a type in capitals, as in AAAA.');
  const draft: Draft<TemplateRule> = {
    class: recordClass,
    type,
    zones: zonesOrBlock(cursor.remainingArguments(), context),
    patterns: [],
    variables: [],
    conditions: [],
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

function readProperties(cursor: DirectiveCursor, draft: Draft<TemplateRule>): void {
  const types = new Map(TEMPLATE_TYPES);
  const section = (name: TemplateSection) => () => {
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
    var: () => {
      draft.variables = [...draft.variables, readVariable(cursor, types)];
    },
    expr: () => {
      draft.conditions = [...draft.conditions, readCondition(cursor, types)];
    },
  };
  cursor.properties(known, () =>
    cursor.argumentError(
      'Known here: match, var, expr, answer, additional, authority, rcode, ederror, fallthrough.',
    ),
  );
}

const EXPRESSION_REMEDY =
  "Write an expression of expr-lang, as in int(group('n')) > 1 or incidr(client_ip(), '10.0.0.0/8').";

/** @param types of the variables so far; the new one is added */
function readVariable(cursor: DirectiveCursor, types: Map<string, GoType>): TemplateVariable {
  const [name = '', ...words] = cursor.remainingArguments();
  if (words.length === 0) throw cursor.argumentError('Give a name and an expression, as in var ttl 60.');
  if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name))
    throw cursor.error(
      `invalid variable name ${JSON.stringify(name)}`,
      'A name has letters, digits and underscores, and no digit in front.',
    );
  if (isReservedName(name, types))
    throw cursor.error(`variable name ${JSON.stringify(name)} is reserved`, 'Give it another name.');
  const fault = (message: string) =>
    cursor.error(`could not compile expression: ${name}, ${message}`, EXPRESSION_REMEDY);
  const expression = readTyped(words.join(' '), types, fault);
  types.set(name, variableType(expression.type));
  return { name, expression };
}

function readCondition(cursor: DirectiveCursor, types: EnvironmentTypes): Expression {
  const words = cursor.remainingArguments();
  if (words.length === 0) throw cursor.argumentError("Give a condition, as in expr name() == 'a.example.'.");
  const fault = (message: string) =>
    cursor.error(`could not compile expression: ${message}`, EXPRESSION_REMEDY);
  return readTyped(words.join(' '), types, fault);
}

function readTyped(
  text: string,
  types: EnvironmentTypes,
  fault: (message: string) => DirectiveError,
): Expression {
  try {
    return readExpression(text, types);
  } catch (error) {
    throw error instanceof ExpressionError ? fault(error.message) : error;
  }
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

function readRecords(name: TemplateSection, cursor: DirectiveCursor): readonly TextTemplate[] {
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
  const rcode = parseExactRcode(text);
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
