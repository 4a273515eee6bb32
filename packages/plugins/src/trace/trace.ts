/**
 * Traces queries: one span for a query, and within it one for each handler that sees it. They go to a collector in batches.
 */
import { presentNameAsGo } from '@portolan/dns/go-name.ts';
import { rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import { toKey } from '@portolan/dns/name.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { BatchExporter, type ExportEvents } from '@portolan/kernel/base/export/batch-exporter.ts';
import { type Post, postTo } from '@portolan/kernel/base/export/http-post.ts';
import { OutageLog } from '@portolan/kernel/base/outage-log.ts';
import { RateLimitedWarnings } from '@portolan/kernel/base/rate-limited-warning.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { findRcode } from '@portolan/kernel/chain/described-response.ts';
import type { Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { ALL_QUESTIONS, NO_QUESTIONS } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { Plugin, PluginContext } from '@portolan/kernel/contract/plugin.ts';
import { COLLECTORS, type SpanCollector, type TraceOrigin } from './collectors.ts';
import type { TraceOptions } from './options.ts';
import { TracedSpan } from './traced-span.ts';

export interface TraceDependencies extends Pick<PluginContext, 'clock' | 'log' | 'metrics' | 'server'> {
  /** Of the program. */
  readonly version: string;
  /** Default: by HTTP. */
  readonly post?: Post;
}

export class TracePlugin implements Plugin {
  readonly handler: Handler;
  readonly #every: number;
  readonly #collector: SpanCollector;
  readonly #exporter: BatchExporter<TracedSpan>;
  readonly #clock: Clock;
  #queries = 0;

  constructor(options: TraceOptions, dependencies: TraceDependencies) {
    const { kind, endpoint, every, service, bounds } = options;
    const { clock, server, version, post } = dependencies;
    const collector = COLLECTORS[kind];
    const origin: TraceOrigin = { service, listener: findListener(server), version };
    this.#every = every;
    this.#clock = clock;
    this.#collector = collector;
    this.#exporter = new BatchExporter({
      bounds,
      encode: (spans) => collector.encode(spans, origin),
      post: post ?? postTo(new URL(endpoint), collector),
      events: reportExport(endpoint, dependencies),
      clock,
    });
    this.handler = {
      name: 'trace',
      isObserver: true,
      role: 'other',
      questions: every === 0 ? NO_QUESTIONS : ALL_QUESTIONS,
      answers: 'unchanged',
      handle: (query, next) => {
        // Readers would give a stored answer without a trace.
        if (every > 0) query.forbidStoring();
        return query.span === undefined && this.#draw() ? this.#trace(query, next) : next(query);
      },
    };
  }

  async stop(): Promise<void> {
    await this.#exporter.stop();
  }

  #draw(): boolean {
    if (this.#every === 0) return false;
    this.#queries += 1;
    if (this.#queries < this.#every) return false;
    this.#queries = 0;
    return true;
  }

  async #trace(query: Query, next: Next): Promise<Answer> {
    const clock = this.#clock;
    const epoch = clock.now() - clock.monotonic();
    const { hasParts } = this.#collector;
    const id = this.#collector.drawTraceId(clock.now());
    const whole = TracedSpan.begin(
      { id, now: () => epoch + clock.monotonic(), onEnd: (span) => this.#exporter.add(span) },
      'servedns',
    );
    query.noteMetadata('trace/traceid', id.toString('hex'));
    if (hasParts) query.span = whole;
    try {
      const answer = await next(query);
      this.#describe(whole, query, answer);
      return answer;
    } catch (error) {
      whole.fail(describeError(error));
      throw error;
    } finally {
      whole.end();
    }
  }

  /** The question is as handlers have rewritten it, as in CoreDNS. */
  #describe(span: TracedSpan, { rewrittenQuestion, sender }: Query, answer: Answer): void {
    const tag = (word: string, value: string) =>
      span.setTag(`coredns.io${this.#collector.separator}${word}`, value);
    tag('name', presentNameAsGo(toKey(rewrittenQuestion.name)));
    tag('type', typeName(rewrittenQuestion.type));
    tag('proto', sender.transport === 'udp' ? 'udp' : 'tcp');
    tag('remote', sender.address);
    tag('rcode', rcodeName(findRcode(answer) ?? 0));
    const reason = 'reason' in answer ? answer.reason : undefined;
    if (reason !== undefined) span.fail(reason);
  }
}

/** @param server the first listener of the block: `dns://127.0.0.1:53` */
function findListener(server: string): TraceOrigin['listener'] {
  const [, inBrackets, address = inBrackets, port] = /\/\/(?:\[(.+)\]|([^:]+)):(\d+)$/.exec(server) ?? [];
  return address === undefined ? undefined : { address, port: Number(port) };
}

/** One line when an outage begins, and one when it ends; spans are counted. */
function reportExport(endpoint: string, { log, clock, metrics, server }: TraceDependencies): ExportEvents {
  const outage = new OutageLog(log, clock, {
    failed: 'plugin/trace: spans not sent',
    ended: 'plugin/trace: sending spans again',
  });
  const warnings = new RateLimitedWarnings(log, clock);
  const spans = metrics.counter('portolan_trace_spans_total', 'Spans of queries, by what became of them.', [
    'server',
    'result',
  ]);
  let isFailing = false;
  return {
    sent(count, lost) {
      spans.inc({ server, result: 'sent' }, count);
      if (isFailing) outage.ended({ endpoint, dropped: lost });
      else if (lost > 0)
        warnings.warn('plugin/trace: spans dropped, there were too many', { endpoint, dropped: lost });
      isFailing = false;
    },
    failed(reason) {
      isFailing = true;
      outage.failed(reason.startsWith('status ') ? 'refused' : 'network', { endpoint, reason });
    },
    dropped: (count) => spans.inc({ server, result: 'dropped' }, count),
  };
}
