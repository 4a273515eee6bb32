import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { createBlockChain } from '@portolan/kernel/chain/handler.ts';
import { addresses, makeHandler, makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { describe, expect, it } from 'vitest';
import type { TraceOptions } from './options.ts';
import { TracePlugin } from './trace.ts';

const GOOD = { status: 202, retryAfter: undefined };
const ANSWER = addresses('a.example.', '192.0.2.1');
const settled = () => new Promise((resolve) => setImmediate(resolve));

interface Block {
  readonly options?: Partial<TraceOptions>;
  readonly server?: string;
  readonly handlers?: readonly Handler[];
  readonly post?: () => Promise<typeof GOOD>;
}

function serve({ options, server = 'dns://:53', handlers = [], post = async () => GOOD }: Block) {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const metrics = new MetricRegistry();
  const bodies: string[] = [];
  const plugin = new TracePlugin(
    {
      kind: 'zipkin',
      endpoint: 'http://c.test/api/v2/spans',
      every: 1,
      service: 'coredns',
      bounds: { waiting: 1000, batch: 100, linger: 1000 },
      ...options,
    },
    {
      clock,
      log,
      metrics,
      server,
      version: '1',
      post: (body) => {
        bodies.push(body);
        return post();
      },
    },
  );
  const chain = createBlockChain([plugin.handler, ...handlers]);
  const pass = async (milliseconds: number) => {
    await settled();
    clock.advance(milliseconds);
    await settled();
  };
  const listSpans = () => bodies.flatMap((body) => JSON.parse(body));
  return { plugin, chain, clock, log, metrics, bodies, pass, listSpans };
}

const named = (name: string, handle: Handler['handle']): Handler => ({ ...makeHandler(handle), name });
const passOn = (query: Parameters<Next>[0], next: Next) => next(query);

describe('a traced query', () => {
  it('has a span, and within it those of the handlers, for Zipkin', async () => {
    const clock: { advance?: (milliseconds: number) => void } = {};
    const { chain, pass, listSpans, ...rest } = serve({
      server: 'dns://192.0.2.9:5353',
      handlers: [
        named('cache', passOn),
        named('forward', async () => {
          clock.advance?.(2.5);
          return ANSWER;
        }),
      ],
    });
    clock.advance = (milliseconds) => rest.clock.advance(milliseconds);
    const query = makeQuery('A.example.');
    query.collectMetadata();
    expect(await chain(query)).toBe(ANSWER);
    await pass(1000);
    const [forward, cache, whole] = listSpans();
    const localEndpoint = { serviceName: 'coredns', ipv4: '192.0.2.9', port: 5353 };
    const times = { timestamp: 1_767_225_600_000_000, duration: 2500 };
    expect(whole).toEqual({
      ...times,
      traceId: whole.id,
      id: expect.stringMatching(/^[0-7][0-9a-f]{15}$/),
      kind: 'SERVER',
      name: 'servedns',
      localEndpoint,
      tags: {
        'coredns.io/name': 'a.example.',
        'coredns.io/type': 'A',
        'coredns.io/proto': 'udp',
        'coredns.io/remote': '192.0.2.53',
        'coredns.io/rcode': 'NOERROR',
      },
    });
    const { id: traceId } = whole;
    expect(cache).toEqual({
      ...times,
      traceId,
      id: cache.id,
      parentId: traceId,
      name: 'cache',
      localEndpoint,
    });
    expect(forward).toEqual({
      ...times,
      traceId,
      id: forward.id,
      parentId: cache.id,
      name: 'forward',
      localEndpoint,
    });
    expect(query.metadata('trace/traceid')).toBe(traceId);
  });

  it('is one of `every`, and none with 0', async () => {
    for (const [every, ids] of [
      [3, ['q3.', 'q6.']],
      [0, []],
    ] as const) {
      const { chain, pass, listSpans } = serve({
        options: { every },
        handlers: [named('whoami', () => ANSWER)],
      });
      for (let index = 1; index <= 7; index += 1) await chain(makeQuery(`q${index}.`));
      await pass(1000);
      const whole = listSpans().filter(({ name }) => name === 'servedns');
      expect(whole.map(({ tags }) => tags['coredns.io/name'])).toEqual(ids);
    }
  });

  it('stays in its trace where a handler asks the block again', async () => {
    const block: { chain?: Next } = {};
    const { chain, pass, listSpans } = serve({
      handlers: [
        named('rewrite', (query, next) => {
          if (query.key !== 'alias.') return next(query);
          const further = query.furtherQuery({ ...query.question, name: makeQuery('target.').question.name });
          return further === undefined || block.chain === undefined ? ANSWER : block.chain(further);
        }),
        named('whoami', () => ANSWER),
      ],
    });
    block.chain = chain as Next;
    await chain(makeQuery('alias.'));
    await pass(1000);
    const spans = listSpans();
    const parents = new Map(spans.map(({ id, name }) => [id, name]));
    expect(spans.map(({ name, parentId }) => `${name} in ${parents.get(parentId) ?? '-'}`)).toEqual([
      'whoami in rewrite',
      'rewrite in rewrite',
      'rewrite in servedns',
      'servedns in -',
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  });

  it('that fails says why', async () => {
    const fail = named('forward', (): Answer => ({ kind: 'servfail', reason: 'i/o timeout' }));
    const { chain, pass, listSpans } = serve({ handlers: [fail] });
    await chain(makeQuery('a.'));
    await pass(1000);
    const whole = listSpans().at(-1);
    expect(whole.tags).toMatchObject({ 'coredns.io/rcode': 'SERVFAIL', error: 'true' });
    expect(whole.annotations).toEqual([
      { timestamp: whole.timestamp, value: 'event:error' },
      { timestamp: whole.timestamp, value: 'error.object:i/o timeout' },
    ]);
  });

  it('ends its spans where a handler throws', async () => {
    const { chain, pass, listSpans } = serve({
      handlers: [
        named('template', () => {
          throw new Error('broken');
        }),
      ],
    });
    await expect(chain(makeQuery('a.'))).rejects.toThrow('broken');
    await pass(1000);
    expect(listSpans().map(({ name, tags }) => [name, tags?.error])).toEqual([
      ['template', undefined],
      ['servedns', 'true'],
    ]);
  });
});

describe('other collectors', () => {
  it('of Datadog get one span for a query, with numbers that JSON.parse would round', async () => {
    const { chain, pass, bodies } = serve({
      options: { kind: 'datadog', service: 'dd' },
      handlers: [named('forward', (): Answer => ({ kind: 'servfail', reason: 'refused' }))],
    });
    const query = makeQuery('a.');
    query.collectMetadata();
    await chain(query);
    await pass(1000);
    const [body = ''] = bodies;
    const [, traceId = '', spanId = ''] = /"trace_id":(\d+),"span_id":(\d+),/.exec(body) ?? [];
    const id = query.metadata('trace/traceid') ?? '';
    expect(id).toMatch(/^6955b90000000000[0-9a-f]{16}$/);
    expect([traceId, spanId]).toEqual(Array(2).fill(String(BigInt(`0x${id.slice(16)}`))));
    expect(body).toContain('"start":1767225600000000000,"duration":0,');
    expect(JSON.parse(body)).toEqual([
      [
        expect.objectContaining({
          parent_id: 0,
          name: 'servedns',
          resource: 'servedns',
          service: 'dd',
          type: 'dns',
          error: 1,
          meta: {
            dns: 'true',
            '_dd.p.tid': '6955b90000000000',
            'coredns.io@name': 'a.',
            'coredns.io@type': 'A',
            'coredns.io@proto': 'udp',
            'coredns.io@remote': '192.0.2.53',
            'coredns.io@rcode': 'SERVFAIL',
            'error.message': 'refused',
            'error.type': 'dns_error',
          },
          metrics: { '_dd.top_level': 1, _sampling_priority_v1: 1 },
        }),
      ],
    ]);
  });

  it('of OTLP get all spans', async () => {
    const { chain, pass, bodies } = serve({
      options: { kind: 'otlp', service: 'dns' },
      handlers: [named('whoami', () => ANSWER)],
    });
    await chain(makeQuery('a.'));
    await pass(1000);
    const { resource, scopeSpans } = JSON.parse(bodies[0] ?? '').resourceSpans[0];
    expect(resource.attributes).toEqual([{ key: 'service.name', value: { stringValue: 'dns' } }]);
    const [whoami, whole] = scopeSpans[0].spans;
    expect([whoami.name, whole.name]).toEqual(['whoami', 'servedns']);
    expect(whoami).toMatchObject({ traceId: whole.traceId, parentSpanId: whole.spanId, kind: 1 });
    expect(whole.traceId).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('a collector that is away', () => {
  const countSpans = (metrics: MetricRegistry) =>
    metrics.render().match(/^portolan_trace_spans_total\{.*$/gm) ?? [];

  it('has one line in the log when it goes and one when it comes, and spans are counted', async () => {
    let isThere = false;
    const { chain, pass, log, metrics } = serve({
      options: { bounds: { waiting: 4, batch: 2, linger: 1000 } },
      handlers: [named('whoami', () => ANSWER)],
      post: async () => (isThere ? GOOD : Promise.reject(new Error('connect ECONNREFUSED'))),
    });
    for (let index = 0; index < 10; index += 1) expect(await chain(makeQuery('a.'))).toBe(ANSWER);
    // Five attempts for a batch, and as many for the next.
    for (let index = 0; index < 2; index += 1)
      for (const pause of [1000, 2000, 4000, 8000]) await pass(pause);
    expect(log.records.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'warn plugin/trace: spans not sent',
      'debug plugin/trace: spans not sent',
    ]);
    isThere = true;
    for (let index = 0; index < 10; index += 1) await pass(1000);
    expect(log.records.at(-1)).toMatchObject({
      message: 'plugin/trace: sending spans again',
      fields: { dropped: 18 },
    });
    expect(countSpans(metrics)).toEqual([
      'portolan_trace_spans_total{server="dns://:53",result="dropped"} 18',
      'portolan_trace_spans_total{server="dns://:53",result="sent"} 2',
    ]);
  });

  it('gets what waits when the block stops', async () => {
    const { chain, plugin, listSpans } = serve({ handlers: [named('whoami', () => ANSWER)] });
    await chain(makeQuery('a.'));
    await plugin.stop();
    expect(listSpans()).toHaveLength(2);
  });
});
