/**
 * The kinds of collectors: what they take, and how spans are written for them.
 */
import { isIPv4 } from 'node:net';
import { encodeOtlp, type OtlpSpan } from '@portolan/kernel/base/export/otlp-message.ts';
import type { CollectorKind } from './options.ts';
import { drawId, type TracedSpan } from './traced-span.ts';

/** Who sends the spans. */
export interface TraceOrigin {
  readonly service: string;
  /** Where queries arrive, if the block names an address. */
  readonly listener: { readonly address: string; readonly port: number } | undefined;
  /** The version of the program. */
  readonly version: string;
}

export interface SpanCollector {
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds that a request may take. */
  readonly timeout: number;
  /** Between `coredns.io` and the word of a tag. */
  readonly separator: '/' | '@';
  /** Whether handlers have spans too. */
  readonly hasParts: boolean;
  /** The id of a trace that begins. @param now milliseconds since the Unix epoch */
  drawTraceId(now: number): Buffer;
  encode(spans: readonly TracedSpan[], origin: TraceOrigin): string;
}

export const COLLECTORS: Readonly<Record<CollectorKind, SpanCollector>> = {
  zipkin: {
    // The request itself is not to be traced.
    headers: { b3: '0' },
    timeout: 5_000,
    separator: '/',
    hasParts: true,
    drawTraceId: drawId,
    encode: encodeZipkin,
  },
  datadog: {
    headers: { 'datadog-meta-lang': 'nodejs' },
    timeout: 10_000,
    separator: '@',
    hasParts: false,
    drawTraceId: drawDatadogId,
    encode: encodeDatadog,
  },
  otlp: {
    headers: {},
    timeout: 10_000,
    separator: '/',
    hasParts: true,
    drawTraceId: () => Buffer.concat([drawId(), drawId()]),
    encode: (spans, origin) =>
      encodeOtlp('traces', spans.map(toOtlp), {
        resource: { 'service.name': origin.service },
        version: origin.version,
      }),
  },
};

/** Version 2 of Zipkin's API: https://zipkin.io/zipkin-api/ */
function encodeZipkin(spans: readonly TracedSpan[], { service, listener }: TraceOrigin): string {
  const localEndpoint = {
    serviceName: service,
    ...(listener && { [isIPv4(listener.address) ? 'ipv4' : 'ipv6']: listener.address, port: listener.port }),
  };
  return JSON.stringify(
    spans.map((span) => ({
      timestamp: toMicroseconds(span.start),
      // 0 would mean that it is unknown.
      duration: Math.max(1, toMicroseconds(span.duration)),
      traceId: span.trace.id.toString('hex'),
      id: span.id.toString('hex'),
      ...(span.outer === undefined ? { kind: 'SERVER' } : { parentId: span.outer.toString('hex') }),
      name: span.name,
      localEndpoint,
      ...(span.failure && {
        annotations: ['event:error', `error.object:${span.failure.message}`].map((value) => ({
          timestamp: toMicroseconds(span.failure?.time ?? span.start),
          value,
        })),
      }),
      ...((span.tags ?? span.failure) && {
        tags: { ...toObject(span.tags), ...(span.failure && { error: 'true' }) },
      }),
    })),
  );
}

/** What Datadog calls the end of an id is random; it begins with the time in seconds. */
function drawDatadogId(now: number): Buffer {
  const begin = Buffer.alloc(8);
  begin.writeUInt32BE(Math.floor(now / 1000));
  return Buffer.concat([begin, drawId()]);
}

/** A list of spans for each trace: https://docs.datadoghq.com/tracing/guide/send_traces_to_agent_by_api/ */
function encodeDatadog(spans: readonly TracedSpan[], { service }: TraceOrigin): string {
  return `[${spans.map((span) => `[${encodeDatadogSpan(span, service)}]`).join(',')}]`;
}

function encodeDatadogSpan({ trace, name, id, start, duration, tags, failure }: TracedSpan, service: string) {
  // Numbers that JavaScript's JSON would round.
  const numbers = {
    trace_id: trace.id.readBigUInt64BE(8),
    span_id: id.readBigUInt64BE(),
    parent_id: 0n,
    start: toNanoseconds(start),
    duration: toNanoseconds(duration),
  };
  const others = {
    name,
    resource: name,
    service,
    type: 'dns',
    error: failure === undefined ? 0 : 1,
    meta: {
      dns: 'true',
      '_dd.p.tid': trace.id.toString('hex', 0, 8),
      ...toObject(tags),
      ...(failure && { 'error.message': failure.message, 'error.type': 'dns_error' }),
    },
    metrics: { '_dd.top_level': 1, _sampling_priority_v1: 1 },
  };
  const written = Object.entries(numbers).map(([key, value]) => `"${key}":${value}`);
  return `{${written.join(',')},${JSON.stringify(others).slice(1)}`;
}

function toOtlp({ trace, name, id, outer, start, duration, tags, failure }: TracedSpan): OtlpSpan {
  return {
    name,
    start,
    end: start + duration,
    failure: failure?.message,
    attributes: toObject(tags),
    traceId: trace.id,
    spanId: id,
    parentId: outer,
  };
}

function toObject(tags: TracedSpan['tags']): Readonly<Record<string, string>> {
  return Object.fromEntries(tags ?? []);
}

function toMicroseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000);
}

function toNanoseconds(milliseconds: number): bigint {
  return BigInt(toMicroseconds(milliseconds)) * 1000n;
}
