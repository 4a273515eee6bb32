/**
 * `errors`: how errors of the handlers are logged.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseGoDuration } from '@portolan/corefile/directive/go-values.ts';
import { compilePattern } from '@portolan/corefile/directive/patterns.ts';
import { PLAN, QUERY_LINES } from '@portolan/kernel/contract/services.ts';
import { ErrorsHandler } from './errors.ts';
import type { ErrorConsolidation, ErrorsOptions } from './options.ts';

const LEVELS: readonly ErrorConsolidation['level'][] = ['warning', 'error', 'info', 'debug'];

/** Source: plugin/errors of CoreDNS 1.14.7. */
export const errors = definePlugin({
  name: 'errors',
  syntax: ['errors [stdout] {', '    stacktrace', '    consolidate DURATION REGEX [LEVEL] [show_first]', '}'],
  read(cursor): ErrorsOptions {
    let stacktrace = false;
    const consolidations: ErrorConsolidation[] = [];
    cursor.onlyUse(() => {
      const [output] = cursor.remainingBetween(0, 1);
      if (output !== undefined && output !== 'stdout')
        throw cursor.error(`invalid log file: ${output}`, 'Take it out: errors go to standard output.');
      while (cursor.nextInBlock())
        cursor.guardLine(() => {
          if (cursor.word === 'consolidate') consolidations.push(readConsolidation(cursor));
          else if (cursor.word === 'stacktrace') stacktrace = true;
          else
            throw cursor.syntaxError(`Unknown field ${cursor.word}`, 'Known here: stacktrace, consolidate.');
        });
    });
    return { stacktrace, consolidations };
  },
  create(options, context) {
    const errors = new ErrorsHandler(options, {
      ...context,
      ...context.use(PLAN),
      queryLog: context.use(QUERY_LINES),
    });
    return { handler: errors.handler, stop: () => errors.stop() };
  },
});

function readConsolidation(cursor: DirectiveCursor): ErrorConsolidation {
  const [span = '', regex, ...words] = cursor.remainingArguments();
  if (regex === undefined || words.length > 2)
    throw cursor.argumentError(
      'Give a duration, a regular expression, then a level and show_first if wanted.',
    );
  const period = parseGoDuration(span);
  if (period.kind === 'bad') throw cursor.error(period.fault, 'Give a duration such as 30s.');
  const pattern = compilePattern(regex, {
    tooLong: (lengths) => cursor.error(`regex pattern too long: ${lengths}`, 'Write a shorter expression.'),
    invalid: (fault) => cursor.error(fault, 'Correct the expression; its syntax is that of Go.'),
  });
  return { period: period.value, pattern, ...readWords(cursor, words) };
}

function readWords(
  cursor: DirectiveCursor,
  words: readonly string[],
): Pick<ErrorConsolidation, 'level' | 'showFirst'> {
  let level: ErrorConsolidation['level'] | undefined;
  let showFirst = false;
  const remedy = `Give a level (${LEVELS.join(', ')}), then show_first.`;
  for (const word of words) {
    const given = LEVELS.find((known) => known === word);
    if (given === undefined && word !== 'show_first')
      throw cursor.error(`unknown option in consolidate: ${word}`, remedy);
    if (given !== undefined && level !== undefined)
      throw cursor.error('multiple log levels specified in consolidate', remedy);
    if (given !== undefined && showFirst)
      throw cursor.error('log level must come before show_first in consolidate', remedy);
    if (given === undefined) showFirst = true;
    else level = given;
  }
  return { level: level ?? 'error', showFirst };
}
