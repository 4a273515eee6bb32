/**
 * `view`: a server block that is only for some queries. Source: plugin/view of CoreDNS 1.14.7.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { type Expression, readExpression } from '@portolan/corefile/expression/expression.ts';
import { ExpressionError } from '@portolan/corefile/expression/syntax/expression-error.ts';
import { NO_QUESTIONS } from '@portolan/kernel/chain/match.ts';
import { listRanges, truthFor } from './client-classes.ts';
import { createViewTest } from './judge-view.ts';
import type { ViewOptions } from './options.ts';
import { QUERY_TYPES } from './query-functions.ts';

/** `view NAME { expr EXPRESSION }`. The listener group judges the conditions, before it chooses the block. */
export const view = definePlugin({
  name: 'view',
  syntax: ['view NAME {\n    expr EXPRESSION\n}'],
  read(cursor): ViewOptions {
    let name = '';
    const conditions: Expression[] = [];
    cursor.onlyUse(() => {
      [name = ''] = cursor.remainingBetween(1, 1);
      cursor.properties({ expr: () => conditions.push(readCondition(cursor)) });
    });
    return { name, conditions };
  },
  create: (options, { clock }) => ({
    choice: {
      accepts: createViewTest(options, clock),
      ranges: listRanges([options]),
      truthFor: (range) => truthFor(options, range),
    },
    handler: {
      name: 'view',
      role: 'other',
      questions: NO_QUESTIONS,
      answers: 'unchanged',
      handle: (query, next) => next(query),
    },
  }),
});

function readCondition(cursor: DirectiveCursor): Expression {
  const text = cursor.remainingArguments().join(' ');
  try {
    return readExpression(text, QUERY_TYPES);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw cursor.ownError(
      error.message,
      "Write an expression with a truth value, as in incidr(client_ip(), '10.0.0.0/8') && type() == 'A'.",
    );
  }
}
