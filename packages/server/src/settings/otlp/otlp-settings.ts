/**
 * Where logs and traces go by OTLP: OpenTelemetry's own environment variables, so that what sets them for other programs also works here.
 *
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
import type { OtlpSignal } from '@portolan/kernel/base/export/otlp-message.ts';
import type { Checked, Problem } from '../values/problem.ts';

/** Which queries are logs: none, those that failed (neither NOERROR nor NXDOMAIN), or all. */
export type ExportedQueries = 'none' | 'failed' | 'all';

export interface OtlpSettings {
  /** Undefined: the signal is not exported. */
  readonly endpoints: Readonly<Record<OtlpSignal, URL | undefined>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds that a request may take. */
  readonly timeout: number;
  /** Attributes of the resource, `service.name` first. */
  readonly resource: Readonly<Record<string, string>>;
  readonly queries: ExportedQueries;
  /** Milliseconds from which on a query is slow, and a trace. */
  readonly slow: number;
}

const PATHS: Readonly<Record<OtlpSignal, string>> = { logs: 'v1/logs', traces: 'v1/traces' };
const QUERIES: ReadonlySet<string> = new Set<ExportedQueries>(['none', 'failed', 'all']);
const DEFAULT_TIMEOUT = 10_000;
const DEFAULT_SLOW = 500;

/**
 * @param variable the value of an environment variable
 * @returns undefined as a value: nothing is exported
 */
export function readOtlpSettings(
  variable: (name: string) => string | undefined,
): Checked<OtlpSettings | undefined> {
  const read = (name: string) => variable(name)?.trim() || undefined;
  if (read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return { kind: 'good', value: undefined };
  const problems: Problem[] = [];
  const endpoints = {
    logs: readEndpoint('logs', read, problems),
    traces: readEndpoint('traces', read, problems),
  };
  if (problems.length === 0 && endpoints.logs === undefined && endpoints.traces === undefined)
    return { kind: 'good', value: undefined };
  const service = read('OTEL_SERVICE_NAME');
  const value: OtlpSettings = {
    endpoints,
    headers: readPairs('OTEL_EXPORTER_OTLP_HEADERS', read, problems),
    timeout: readMilliseconds('OTEL_EXPORTER_OTLP_TIMEOUT', read, problems) ?? DEFAULT_TIMEOUT,
    resource: {
      'service.name': 'portolan',
      ...readPairs('OTEL_RESOURCE_ATTRIBUTES', read, problems),
      ...(service !== undefined && { 'service.name': service }),
    },
    queries: readQueries(read, problems),
    slow: readMilliseconds('PORTOLAN_OTLP_SLOW', read, problems) ?? DEFAULT_SLOW,
  };
  return problems.length > 0 ? { kind: 'bad', problems } : { kind: 'good', value };
}

type ReadOtlpVariable = (name: string) => string | undefined;

function readEndpoint(signal: OtlpSignal, read: ReadOtlpVariable, problems: Problem[]): URL | undefined {
  const own = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`;
  if (read(`OTEL_${signal.toUpperCase()}_EXPORTER`) === 'none') return undefined;
  const where = read(own) === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : own;
  const text = read(where);
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    const remedy = 'Write the address of the HTTP receiver of a collector, such as http://collector:4318.';
    problems.push({ where, fault: 'not an http or https URL', value: text, remedy });
    return undefined;
  }
  // The path of the common variable is a prefix, that of a signal is whole.
  if (where !== own) url.pathname = `${url.pathname.replace(/\/$/, '')}/${PATHS[signal]}`;
  return url;
}

/** Reads `name=value,name=value`, with both parts percent-encoded (W3C Baggage). */
function readPairs(where: string, read: ReadOtlpVariable, problems: Problem[]): Record<string, string> {
  const pairs = new Map<string, string>();
  for (const part of (read(where) ?? '').split(',').filter((each) => each.trim() !== '')) {
    const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
    const decoded = name === undefined || value === undefined ? undefined : decode(name, value);
    if (decoded !== undefined) pairs.set(...decoded);
    else
      problems.push({
        where,
        fault: 'not of the form name=value',
        value: part,
        remedy: 'Write name=value,name=value, and other characters percent-encoded.',
      });
  }
  return Object.fromEntries(pairs);
}

function decode(name: string, value: string): [string, string] | undefined {
  try {
    return [decodeURIComponent(name), decodeURIComponent(value)];
  } catch {
    return undefined;
  }
}

function readMilliseconds(where: string, read: ReadOtlpVariable, problems: Problem[]): number | undefined {
  const text = read(where);
  if (text === undefined || /^[1-9]\d{0,6}$/.test(text)) return text === undefined ? undefined : Number(text);
  problems.push({
    where,
    fault: 'not a number of milliseconds',
    value: text,
    remedy: 'Write a whole number from 1 to 9999999.',
  });
  return undefined;
}

function readQueries(read: ReadOtlpVariable, problems: Problem[]): ExportedQueries {
  const where = 'PORTOLAN_OTLP_QUERIES';
  const text = read(where) ?? 'failed';
  if (!QUERIES.has(text))
    problems.push({ where, fault: 'unknown word', value: text, remedy: 'Write none, failed or all.' });
  return text as ExportedQueries;
}
