/**
 * How the directive `trace` is read.
 */
import { DISK_FILES } from '@portolan/corefile/syntax/corefile-files.ts';
import { readCorefile } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { findPluginOptions } from '@portolan/kernel/contract/plugin-use.ts';
import { trace } from '@portolan/plugins/trace/plugin.ts';
import { describe, expect, it } from 'vitest';

function read(...lines: readonly string[]) {
  const reading = readCorefile(`. {\n${lines.join('\n')}\nwhoami\n}\n`, {
    file: 'Corefile',
    profile: '1.14',
    defaultPort: 53,
    environment: {},
    files: DISK_FILES,
    interfaces: new Map(),
  });
  const problems = reading.kind === 'bad' ? reading.problems.map(({ message }) => message) : [];
  const uses = reading.kind === 'bad' ? [] : reading.blocks[0]?.plugins;
  return {
    options: findPluginOptions(uses, trace),
    problems,
    warnings: reading.warnings.map(({ text }) => text),
  };
}

const DEFAULTS = {
  kind: 'zipkin',
  endpoint: 'http://localhost:9411/api/v2/spans',
  every: 1,
  service: 'coredns',
  bounds: { waiting: 1000, batch: 100, linger: 1000 },
};

describe('trace', () => {
  it.each([
    ['trace', {}],
    ['trace localhost:1234', { endpoint: 'http://localhost:1234/api/v2/spans' }],
    ['trace http://c.test:1234/somewhere/else', { endpoint: 'http://c.test:1234/somewhere/else' }],
    ['trace http://c.test:1234', { endpoint: 'http://c.test:1234/api/v2/spans' }],
    ['trace ZIPKIN [2001:db8::1]:9411', { endpoint: 'http://[2001:db8::1]:9411/api/v2/spans' }],
    ['trace datadog agent:8126', { kind: 'datadog', endpoint: 'http://agent:8126/v0.4/traces' }],
    ['trace otlp https://c.test:4318', { kind: 'otlp', endpoint: 'https://c.test:4318/v1/traces' }],
    ['trace {\nevery 100\nservice dns\nclient_server true\n}', { every: 100, service: 'dns' }],
    ['trace {\nevery 0\n}', { every: 0 }],
    [
      'trace datadog a {\ndatadog_analytics_rate 0.1\n}',
      { kind: 'datadog', endpoint: 'http://a/v0.4/traces' },
    ],
    [
      'trace {\nzipkin_max_backlog_size 50\nzipkin_max_batch_size 200\nzipkin_max_batch_interval 10s\n}',
      { bounds: { waiting: 50, batch: 200, linger: 10_000 } },
    ],
    ['trace {\nzipkin_max_backlog_size 0\nzipkin_max_batch_size 0\nzipkin_max_batch_interval 0\n}', {}],
    ['trace {\nzipkin_max_batch_interval 1us\n}', { bounds: { ...DEFAULTS.bounds, linger: 1 } }],
  ])('%j', (text, changes) => {
    expect(read(text)).toEqual({ options: { ...DEFAULTS, ...changes }, problems: [], warnings: [] });
  });

  it('takes the last of two, and what the first has set', () => {
    expect(read('trace a:1 {\nevery 5\n}', 'trace otlp b:2').options).toEqual({
      ...DEFAULTS,
      kind: 'otlp',
      endpoint: 'http://b:2/v1/traces',
      every: 5,
    });
  });

  it('takes a single word as an address, with a warning if it is a type', () => {
    const { options, warnings } = read('trace datadog');
    expect(options?.endpoint).toBe('http://datadog/api/v2/spans');
    expect(warnings).toEqual([
      'datadog is taken as the address of Zipkin. Write both words: trace datadog localhost:8126.',
    ]);
  });

  it('keeps a bounded number of spans', () => {
    const { options, warnings } = read('trace {\nzipkin_max_backlog_size 5000000\n}');
    expect(options?.bounds.waiting).toBe(100_000);
    expect(warnings).toEqual(['5000000 spans are too many: 100000 are taken.']);
  });

  it.each([
    ['trace httpd:9411', 'endpoint is no address and no http or https URL: "httpd:9411"'],
    ['trace "http://"', 'endpoint is no address and no http or https URL: "http://"'],
    ['trace {\nzipkin_max_batch_size -1\n}', 'number of spans is negative: -1'],
  ])('%j is refused', (text, message) => {
    expect(read(text).problems).toEqual([`plugin/trace: ${message}`]);
  });
});
