import { describe, expect, it } from 'vitest';
import { MetricRegistry } from './registry.ts';

describe('a scrape', () => {
  it('is what prom-client 15.1 wrote for the same counts', () => {
    const metrics = new MetricRegistry();
    metrics.counter('a_total', 'A.');
    const labelled = metrics.counter('b_total', 'B \\ of\nlines.', ['server', 'path']);
    labelled.inc({ server: 'dns://:53', path: 'C:\\"x"\n' });
    labelled.inc({ server: 'dns://:53', path: '' }, 1.5);
    labelled.inc({ path: 'C:\\"x"\n', server: 'dns://:53' }, 2);
    metrics.counter('c_total', 'C.', ['server']);
    const gauge = metrics.gauge('d', 'D.', ['state']);
    gauge.set({ state: 'bad' }, 1e-7);
    gauge.set({ state: 'good' }, Number.POSITIVE_INFINITY);
    gauge.set({ state: 'bad' }, -1e21);
    const times = metrics.histogram('e_seconds', 'E.', [0.1, 1]);
    times.observe({ to: '192.0.2.1:53' }, 0.1, 3);
    times.observe({ to: '192.0.2.1:53' }, 7);
    times.add({ to: '192.0.2.2:53' }, [0, 2, 1], 4.25);
    expect(metrics.render()).toBe(
      [
        '# HELP a_total A.',
        '# TYPE a_total counter',
        'a_total 0',
        '',
        '# HELP b_total B \\\\ of\\nlines.',
        '# TYPE b_total counter',
        'b_total{server="dns://:53",path="C:\\\\\\"x\\"\\n"} 3',
        'b_total{server="dns://:53",path=""} 1.5',
        '',
        '# HELP c_total C.',
        '# TYPE c_total counter',
        '',
        '# HELP d D.',
        '# TYPE d gauge',
        'd{state="bad"} -1e+21',
        'd{state="good"} +Inf',
        '',
        '# HELP e_seconds E.',
        '# TYPE e_seconds histogram',
        'e_seconds_bucket{le="0.1",to="192.0.2.1:53"} 3',
        'e_seconds_bucket{le="1",to="192.0.2.1:53"} 3',
        'e_seconds_bucket{le="+Inf",to="192.0.2.1:53"} 4',
        'e_seconds_sum{to="192.0.2.1:53"} 7.3',
        'e_seconds_count{to="192.0.2.1:53"} 4',
        'e_seconds_bucket{le="0.1",to="192.0.2.2:53"} 0',
        'e_seconds_bucket{le="1",to="192.0.2.2:53"} 2',
        'e_seconds_bucket{le="+Inf",to="192.0.2.2:53"} 3',
        'e_seconds_sum{to="192.0.2.2:53"} 4.25',
        'e_seconds_count{to="192.0.2.2:53"} 3',
        '',
      ].join('\n'),
    );
  });
});

describe('a family', () => {
  it('is the same at each use, and keeps its counts', () => {
    const metrics = new MetricRegistry();
    metrics.counter('a_total', 'A.', ['x']).inc({ x: '1' });
    metrics.counter('a_total', 'Another help.', ['x']).inc({ x: '1' }, 2);
    expect(metrics.render()).toBe('# HELP a_total A.\n# TYPE a_total counter\na_total{x="1"} 3\n');
  });

  it('has one type', () => {
    const metrics = new MetricRegistry();
    metrics.counter('a', 'A.');
    expect(() => metrics.gauge('a', 'A.')).toThrow(
      'two metrics with one name: a: a counter and a gauge. Rename one.',
    );
    expect(() => metrics.histogram('a', 'A.', [1])).toThrow('two metrics with one name');
  });

  it.each([
    ['1a', ['x'], 'bad name of a metric: 1a'],
    ['a-b', [], 'bad name of a metric: a-b'],
    ['a', ['x', 'y:z'], 'bad label of a: y:z'],
  ])('has a name and labels that Prometheus accepts: %s %j', (name, labels, message) => {
    expect(() => new MetricRegistry().counter(name, 'A.', labels)).toThrow(message);
  });

  it('takes the labels that it declares', () => {
    const counter = new MetricRegistry().counter('a_total', 'A.', ['x']);
    expect(() => counter.inc({ y: '1' })).toThrow('unknown label of a_total: y. It has: x.');
    expect(() => counter.inc({ x: '1' }, -1)).toThrow('bad increment of a_total: -1');
    expect(() => counter.inc({ x: '1' }, Number.NaN)).toThrow('bad increment of a_total: NaN');
  });

  it('has one series for an empty label and no label', () => {
    const counter = new MetricRegistry().counter('a_total', 'A.', ['x', 'y']);
    counter.inc({ x: '1' });
    counter.inc({ x: '1', y: '' });
    expect([...counter.read()]).toEqual([[{ x: '1' }, 2]]);
  });

  it('shows a series from its first count on', () => {
    const metrics = new MetricRegistry();
    const count = metrics.counter('a_total', 'A.', ['x']).series({ x: '1' });
    const observe = metrics.histogram('b', 'B.', [1]).series({ x: '1' });
    expect(metrics.families().map((family) => [...family.read()].length)).toEqual([0, 0]);
    count(2);
    observe(0.5);
    expect(metrics.families().map((family) => [...family.read()].length)).toEqual([1, 4]);
  });
});

it('forgets the series of a gauge', () => {
  const gauge = new MetricRegistry().gauge('a', 'A.', ['x']);
  gauge.set({ x: '1' }, 1);
  gauge.set({ x: '2' }, 2);
  gauge.remove({ x: '1' });
  expect([...gauge.read()]).toEqual([[{ x: '2' }, 2]]);
  gauge.reset();
  expect([...gauge.read()]).toEqual([]);
});

it('collects counts from their sources before a scrape, until a source ends', () => {
  const metrics = new MetricRegistry();
  const counter = metrics.counter('a_total', 'A.');
  const end = metrics.collectBy(() => counter.inc());
  expect(metrics.render()).toContain('a_total 1\n');
  end();
  expect(metrics.render()).toContain('a_total 1\n');
});
