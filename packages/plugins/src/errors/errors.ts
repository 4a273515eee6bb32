/**
 * Logs errors of the handlers behind it: `plugin/errors: 2 example.org. A: read udp …: i/o timeout`.
 *
 * Errors that match a pattern are counted for a time, and logged in one line. Of others a few lines a minute are logged, then
 * their number: clients can cause any number of errors, and a line costs as much as an answer.
 */
import { presentNameAsGo } from '@portolan/dns/go-name.ts';
import { typeName } from '@portolan/dns/mnemonics.ts';
import { toKey } from '@portolan/dns/name.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { formatGoDuration } from '@portolan/kernel/base/duration.ts';
import { LineLimit } from '@portolan/kernel/base/line-limit.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { type Answer, toReply } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { NO_QUESTIONS } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { QueryLines } from '@portolan/kernel/contract/services.ts';
import type { RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import type { ErrorConsolidation, ErrorsOptions } from './options.ts';

export interface ErrorsDependencies {
  readonly clock: Clock;
  readonly log: Log;
  /** For lines about single queries. */
  readonly queryLog: QueryLines;
  /** The deviations in which lines are those of CoreDNS. */
  readonly restored: RestoredDeviations;
}

/** For errors that match no pattern. */
const LIMIT = { lines: 5, period: 60_000 };

const LEVELS = { debug: 'debug', info: 'info', warning: 'warn', error: 'error' } as const;

export class ErrorsHandler {
  readonly handler: Handler;
  readonly #counts: readonly ConsolidatedCount[];
  readonly #queryLog: QueryLines;
  /** For errors that match no pattern. Undefined: all are logged. */
  readonly #limit: LineLimit | undefined;

  constructor({ consolidations }: ErrorsOptions, { clock, log, queryLog, restored }: ErrorsDependencies) {
    this.#queryLog = queryLog;
    const logMore = (count: number) =>
      log.error(`plugin/errors: ${count} more errors in last ${formatGoDuration(LIMIT.period)}`);
    this.#limit = restored.has('error-lines') ? undefined : new LineLimit({ ...LIMIT, clock, logMore });
    this.#counts = consolidations.map((settings) => new ConsolidatedCount(settings, { clock, log }));
    this.handler = {
      name: 'errors',
      isObserver: true,
      role: 'other',
      questions: NO_QUESTIONS,
      answers: 'unchanged',
      handle: async (query, next) => {
        const answer = await next(query);
        const reason = 'reason' in answer ? answer.reason : undefined;
        if (reason !== undefined) this.#note(query, answer, reason);
        return answer;
      },
    };
  }

  /** Logs errors that were counted but not logged yet. */
  stop(): void {
    for (const count of this.#counts) count.stop();
    this.#limit?.stop();
  }

  #note({ rewrittenQuestion: { name, type } }: Query, answer: Answer, reason: string): void {
    const count = this.#counts.find((each) => each.isFor(reason));
    const isLogged = count?.add() ?? this.#limit?.take() ?? true;
    if (!isLogged) return;
    this.#queryLog.error(
      `plugin/errors: ${toRcode(answer)} ${presentNameAsGo(toKey(name))} ${typeName(type)}: ${reason}`,
    );
  }
}

/** The response code that the handler behind left to the server; 0 if it made a response. */
function toRcode(answer: Answer): number {
  return answer.kind === 'drop' || answer.kind === 'message' ? 0 : (toReply(answer).rcode ?? 0);
}

class ConsolidatedCount {
  readonly #settings: ErrorConsolidation;
  readonly #dependencies: Pick<ErrorsDependencies, 'clock' | 'log'>;
  #count = 0;
  #timer: Timer | undefined;

  constructor(settings: ErrorConsolidation, dependencies: Pick<ErrorsDependencies, 'clock' | 'log'>) {
    this.#settings = settings;
    this.#dependencies = dependencies;
  }

  isFor(reason: string): boolean {
    return this.#settings.pattern.test(reason);
  }

  /** @returns whether the error is logged by itself as well */
  add(): boolean {
    const { period, showFirst } = this.#settings;
    this.#count += 1;
    if (this.#count > 1) return false;
    this.#timer = this.#dependencies.clock.after(Math.max(0, period), () => this.#tell());
    return showFirst;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#tell();
  }

  #tell(): void {
    const { pattern, period, level } = this.#settings;
    if (this.#count === 0) return;
    const line = `plugin/errors: ${this.#count} errors like '${pattern.source}' occurred in last ${formatGoDuration(period)}`;
    this.#count = 0;
    this.#dependencies.log[LEVELS[level]](line);
  }
}
