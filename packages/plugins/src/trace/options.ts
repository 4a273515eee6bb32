/**
 * Where the spans of queries go, and of which queries.
 */
import type { ExportBounds } from '@portolan/kernel/base/export/batch-exporter.ts';

export type CollectorKind = 'zipkin' | 'datadog' | 'otlp';

export interface TraceOptions {
  readonly kind: CollectorKind;
  /** An http or https URL. */
  readonly endpoint: string;
  /** One of so many queries is traced; 0: none. */
  readonly every: number;
  /** The name of the server for collectors. */
  readonly service: string;
  /** Counted in spans. */
  readonly bounds: ExportBounds;
}
