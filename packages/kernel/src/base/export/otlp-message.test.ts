import { expect, it } from 'vitest';
import { encodeOtlp } from './otlp-message.ts';

const ORIGIN = { resource: { 'service.name': 'portolan' }, version: '1' };
const SCOPE = { name: 'portolan', version: '1' };
const RESOURCE = { attributes: [{ key: 'service.name', value: { stringValue: 'portolan' } }] };

it('writes a record of the log', () => {
  const attributes = { text: 'a', whole: 3, part: 0.5, flag: true, none: undefined };
  const record = {
    time: 1_700_000_000_000.5,
    severity: 'WARN',
    event: 'test',
    body: 'answer',
    attributes,
  } as const;
  expect(JSON.parse(encodeOtlp('logs', [record], ORIGIN))).toEqual({
    resourceLogs: [
      {
        resource: RESOURCE,
        scopeLogs: [
          {
            scope: SCOPE,
            logRecords: [
              {
                timeUnixNano: '1700000000000500000',
                observedTimeUnixNano: '1700000000000500000',
                severityNumber: 13,
                severityText: 'WARN',
                eventName: 'test',
                body: { stringValue: 'answer' },
                attributes: [
                  { key: 'text', value: { stringValue: 'a' } },
                  { key: 'whole', value: { intValue: '3' } },
                  { key: 'part', value: { doubleValue: 0.5 } },
                  { key: 'flag', value: { boolValue: true } },
                ],
              },
            ],
          },
        ],
      },
    ],
  });
});

it('writes a span of a server, and one within it', () => {
  const whole = {
    name: 'servedns',
    start: 1_700_000_000_000.25,
    end: 1_700_000_000_001,
    failure: 'SERVFAIL',
    attributes: {},
    traceId: Buffer.alloc(16, 1),
    spanId: Buffer.alloc(8, 2),
  };
  const part = { ...whole, failure: undefined, spanId: Buffer.alloc(8, 3), parentId: whole.spanId };
  expect(JSON.parse(encodeOtlp('traces', [whole, part], ORIGIN))).toEqual({
    resourceSpans: [
      {
        resource: RESOURCE,
        scopeSpans: [
          {
            scope: SCOPE,
            spans: [
              {
                traceId: '01'.repeat(16),
                spanId: '02'.repeat(8),
                name: 'servedns',
                kind: 2,
                startTimeUnixNano: '1700000000000250000',
                endTimeUnixNano: '1700000000001000000',
                attributes: [],
                status: { code: 2, message: 'SERVFAIL' },
              },
              {
                traceId: '01'.repeat(16),
                spanId: '03'.repeat(8),
                parentSpanId: '02'.repeat(8),
                name: 'servedns',
                kind: 1,
                startTimeUnixNano: '1700000000000250000',
                endTimeUnixNano: '1700000000001000000',
                attributes: [],
                status: {},
              },
            ],
          },
        ],
      },
    ],
  });
});
