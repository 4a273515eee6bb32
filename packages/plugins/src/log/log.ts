/**
 * A line for each query, in the formats of CoreDNS: `{remote}:{port} - {>id} "{type} {class} {name} …" {rcode} …`.
 */
import { isWithin } from '@portolan/dns/name.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import {
  classifyResponse,
  describeSent,
  findResponseType,
} from '@portolan/kernel/chain/described-response.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { ALL_QUESTIONS, NO_QUESTIONS } from '@portolan/kernel/chain/match.ts';
import type { QueryLines } from '@portolan/kernel/contract/services.ts';
import { compileLogFormat, describeQuery, formatQuery, namesMetadata } from './log-format.ts';
import type { LogOptions } from './options.ts';

export interface LogDependencies {
  readonly clock: Clock;
  readonly queryLog: QueryLines;
  /** The names of the block's handlers; complete once the block is. */
  readonly handlerNames: () => readonly string[];
}

/** The first rule whose zone contains the name decides, even if its class does not match. */
export function createLogHandler(
  { rules }: LogOptions,
  { clock, queryLog, handlerNames }: LogDependencies,
): Handler {
  // Readers do not know the facts that plugins note.
  const needsPlugins = (): boolean =>
    handlerNames().includes('metadata') && rules.some(({ format }) => namesMetadata(format));
  const compiled = rules.map(({ zone, format, classes }) => ({
    zone,
    add: compileLogFormat(format),
    classes: new Set(classes),
  }));
  return {
    name: 'log',
    isObserver: true,
    writesLines: true,
    role: 'other',
    questions: {
      includes: () => needsPlugins(),
      matches: () => (needsPlugins() ? ALL_QUESTIONS : NO_QUESTIONS).matches(),
    },
    answers: 'unchanged',
    handle: async (query, next) => {
      const rule = compiled.find(({ zone }) => isWithin(query.key, zone));
      if (rule === undefined) return await next(query);
      const began = clock.monotonic();
      const answer = await next(query);
      const response = describeSent(query, answer);
      const responseClass = classifyResponse(response);
      query.noteMetadata('log/type', findResponseType(response));
      query.noteMetadata('log/class', responseClass);
      if (rule.classes.has('all') || rule.classes.has(responseClass))
        queryLog.info(formatQuery(rule.add, describeQuery(query, response, clock.monotonic() - began)));
      return answer;
    },
  };
}
