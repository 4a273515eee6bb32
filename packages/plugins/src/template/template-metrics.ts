/**
 * Metrics of templates, under CoreDNS's names.
 */
import type { Counter } from '@portolan/kernel/base/metrics/counted-families.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { CountFamily, type HandlerCount } from '@portolan/kernel/chain/handler-counts.ts';
import type { QuerySite } from '@portolan/kernel/chain/query.ts';
import type { TextTemplate } from './text-template/text-template.ts';

/** Labels of a question that a template matched. */
export interface MatchLabels extends Pick<QuerySite, 'server' | 'view'> {
  readonly zone: string;
  readonly class: string;
  readonly type: string;
}

const LABELS = ['server', 'zone', 'view', 'class', 'type'] as const;
const FAILURE_LABELS = [...LABELS, 'section', 'template'];

export class TemplateMetrics {
  readonly #matches: CountFamily;
  readonly #templateFailures: Counter;
  readonly #recordFailures: Counter;

  constructor(metrics: MetricRegistry) {
    this.#matches = new CountFamily(
      metrics,
      'coredns_template_matches_total',
      'Counter of template regex matches.',
      LABELS,
    );
    this.#templateFailures = metrics.counter(
      'coredns_template_template_failures_total',
      'Counter of go template failures.',
      FAILURE_LABELS,
    );
    this.#recordFailures = metrics.counter(
      'coredns_template_rr_failures_total',
      'Counter of mis-templated RRs.',
      FAILURE_LABELS,
    );
  }

  matched({ zone, class: dnsClass, type }: MatchLabels): HandlerCount {
    return this.#matches.with({ zone, class: dnsClass, type });
  }

  /** @param kind `template`: it could not be filled in; `record`: the result is not a record */
  failed(kind: 'template' | 'record', labels: MatchLabels, { use, source }: TextTemplate): void {
    const counter = kind === 'template' ? this.#templateFailures : this.#recordFailures;
    counter.inc({ ...labels, section: use, template: toGoText(source) });
  }
}

/** A template in Go's form: without redundant blanks, and without those that its trim markers remove. */
function toGoText(source: string): string {
  return source
    .replaceAll(/\s*\{\{-\s/g, '{{')
    .replaceAll(/\s-\}\}\s*/g, '}}')
    .replaceAll(ACTION, (action) => action.replaceAll(WORDS, (word) => (/^\s/.test(word) ? ' ' : word)))
    .replaceAll(/\{\{ /g, '{{')
    .replaceAll(/ \}\}/g, '}}');
}

const ACTION = /\{\{(?:"(?:[^"\\]|\\.)*"|`[^`]*`|[^"`}])*\}\}/g;
const WORDS = /"(?:[^"\\]|\\.)*"|`[^`]*`|\s+|[^\s"`]+/g;
