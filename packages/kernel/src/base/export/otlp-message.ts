/**
 * Logs and traces as requests of OTLP, in its JSON encoding.
 *
 * https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
 */

export type OtlpSignal = 'logs' | 'traces';

/** Attributes without a value are left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface OtlpRecord {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly severity: 'INFO' | 'WARN' | 'ERROR';
  /** What kind of event it is, the same for all of its kind. */
  readonly event: string;
  /** For people. */
  readonly body: string;
  readonly attributes: Attributes;
}

/** The answer to one query, or a part of the work on it. */
export interface OtlpSpan {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  /** What failed; undefined: nothing did. */
  readonly failure: string | undefined;
  readonly attributes: Attributes;
  /** 16 octets, random. */
  readonly traceId: Buffer;
  /** 8 octets, random. */
  readonly spanId: Buffer;
  /** The span that it is a part of. Default: none. */
  readonly parentId?: Buffer | undefined;
}

export interface Origin {
  readonly resource: Readonly<Record<string, string>>;
  /** The version of the program. */
  readonly version: string;
}

export interface RecordsOf {
  readonly logs: OtlpRecord;
  readonly traces: OtlpSpan;
}

const SEVERITY_NUMBERS = { INFO: 9, WARN: 13, ERROR: 17 } as const;
const KIND_INTERNAL = 1;
const KIND_SERVER = 2;
const STATUS_ERROR = 2;

/** The body of a request with the records of a signal. */
export function encodeOtlp<Signal extends OtlpSignal>(
  signal: Signal,
  records: readonly RecordsOf[Signal][],
  { resource, version }: Origin,
): string {
  const [whole, part] =
    signal === 'logs'
      ? [
          'resourceLogs',
          { scopeLogs: [scoped({ logRecords: (records as readonly OtlpRecord[]).map(encodeLog) })] },
        ]
      : [
          'resourceSpans',
          { scopeSpans: [scoped({ spans: (records as readonly OtlpSpan[]).map(encodeSpan) })] },
        ];
  return JSON.stringify({ [whole]: [{ resource: { attributes: encodeAttributes(resource) }, ...part }] });

  function scoped<Records>(encoded: Records) {
    return { scope: { name: 'portolan', version }, ...encoded };
  }
}

function encodeLog({ time, severity, event, body, attributes }: OtlpRecord) {
  return {
    timeUnixNano: nanoseconds(time),
    observedTimeUnixNano: nanoseconds(time),
    severityNumber: SEVERITY_NUMBERS[severity],
    severityText: severity,
    eventName: event,
    body: { stringValue: body },
    attributes: encodeAttributes(attributes),
  };
}

function encodeSpan({ name, start, end, failure, attributes, traceId, spanId, parentId }: OtlpSpan) {
  return {
    traceId: traceId.toString('hex'),
    spanId: spanId.toString('hex'),
    ...(parentId !== undefined && { parentSpanId: parentId.toString('hex') }),
    name,
    kind: parentId === undefined ? KIND_SERVER : KIND_INTERNAL,
    startTimeUnixNano: nanoseconds(start),
    endTimeUnixNano: nanoseconds(end),
    attributes: encodeAttributes(attributes),
    status: failure === undefined ? {} : { code: STATUS_ERROR, message: failure },
  };
}

function encodeAttributes(attributes: Attributes) {
  return Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({ key, value: encodeValue(value) }));
}

/** 64-bit integers are texts in JSON. */
function encodeValue(value: Attributes[string]) {
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value !== 'number') return { stringValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

function nanoseconds(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds * 1000)) * 1000n);
}
