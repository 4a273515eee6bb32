import { expect, it } from 'vitest';
import { describeProblem } from '../values/problem.ts';
import { readOtlpSettings } from './otlp-settings.ts';

const readFrom = (environment: Record<string, string>) =>
  readOtlpSettings((name) => new Map(Object.entries(environment)).get(name));

function read(environment: Record<string, string>) {
  const reading = readFrom(environment);
  if (reading.kind === 'bad') throw new Error(reading.problems.map(describeProblem).join('\n'));
  return reading.value;
}

it('exports nothing where no collector is named, or the SDK is off', () => {
  expect(read({})).toBeUndefined();
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: ' ', OTEL_SERVICE_NAME: 'dns' })).toBeUndefined();
  expect(
    read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c.test:4318', OTEL_SDK_DISABLED: 'TRUE' }),
  ).toBeUndefined();
});

it('appends the path of each signal to the common endpoint only', () => {
  const endpoints = (environment: Record<string, string>) => {
    const { logs, traces } = read(environment)?.endpoints ?? {};
    return [logs?.href, traces?.href];
  };
  expect(endpoints({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c.test:4318' })).toEqual([
    'http://c.test:4318/v1/logs',
    'http://c.test:4318/v1/traces',
  ]);
  expect(
    endpoints({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c.test/otlp/',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t.test/own',
    }),
  ).toEqual(['https://c.test/otlp/v1/logs', 'http://t.test/own']);
  expect(endpoints({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c.test', OTEL_TRACES_EXPORTER: 'none' })).toEqual([
    'http://c.test/v1/logs',
    undefined,
  ]);
});

it('reads headers, attributes, times and words', () => {
  expect(
    read({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c.test:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x-scope = one',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,k8s.cluster.name=blue',
      OTEL_SERVICE_NAME: 'dns',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2500',
      PORTOLAN_OTLP_QUERIES: 'all',
      PORTOLAN_OTLP_SLOW: '40',
    }),
  ).toMatchObject({
    headers: { authorization: 'Bearer abc', 'x-scope': 'one' },
    resource: { 'service.name': 'dns', 'k8s.cluster.name': 'blue' },
    timeout: 2500,
    queries: 'all',
    slow: 40,
  });
});

it('names each variable with a mistake, and a remedy', () => {
  const reading = readFrom({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'good=1,bad,worse=%zz',
    OTEL_EXPORTER_OTLP_TIMEOUT: '10s',
    PORTOLAN_OTLP_QUERIES: 'some',
    PORTOLAN_OTLP_SLOW: '0',
  });
  expect(reading.kind === 'bad' && reading.problems.map(({ where, value }) => [where, value])).toEqual([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'bad'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'worse=%zz'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s'],
    ['PORTOLAN_OTLP_QUERIES', 'some'],
    ['PORTOLAN_OTLP_SLOW', '0'],
  ]);
});
