import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { describe, expect, it } from 'vitest';
import { readControlOrder } from './control-order.ts';

const read = (text: string) => readControlOrder(text.split(' '), 'json');

const NO_FILTER = {
  names: [],
  types: [],
  rcodes: [],
  clients: [],
  namespaces: [],
  reasons: [],
  sources: [],
};
const EXPLAIN = {
  kind: 'explain',
  from: undefined,
  namespace: undefined,
  pod: undefined,
  search: undefined,
  ndots: undefined,
  resolver: 'glibc',
  asks: false,
};

describe('an order', () => {
  const settings = { format: 'json', sample: 1, zones: [], rcodes: [], clients: [] };

  it.each([
    ['status', { kind: 'status' }],
    ['doctor', { kind: 'doctor', watch: 2000 }],
    ['doctor watch=0s', { kind: 'doctor', watch: 0 }],
    ['explain cart.shop', { ...EXPLAIN, name: 'cart.shop', types: ['A', 'AAAA'] }],
    [
      'explain cart srv ask from=10.0.0.1 namespace=shop pod=web-0 search=a.test,b.test ndots=2 resolver=musl',
      {
        kind: 'explain',
        name: 'cart',
        types: ['SRV'],
        from: '10.0.0.1',
        namespace: 'shop',
        pod: 'web-0',
        search: ['a.test', 'b.test'],
        ndots: 2,
        resolver: 'musl',
        asks: true,
      },
    ],
    ['names', { kind: 'names', bucket: undefined }],
    ['names 3f', { kind: 'names', bucket: 0x3f }],
    ['changes', { kind: 'changes', rows: 50 }],
    ['changes rows=4096', { kind: 'changes', rows: 4_096 }],
    ['lookup a.test.', { kind: 'lookup', name: 'a.test.', type: 'A', from: undefined }],
    ['lookup a.test aaaa from=::1', { kind: 'lookup', name: 'a.test', type: 'AAAA', from: '::1' }],
    ['tail', { kind: 'tail', filter: NO_FILTER, rate: undefined }],
    [
      'tail name=a.test type=A rcode=NXDOMAIN,SERVFAIL client=10.0.0.0/8 namespace=shop reason=no-such-service source=cluster rate=5',
      {
        kind: 'tail',
        rate: 5,
        filter: {
          names: ['a.test.'],
          types: [1],
          rcodes: [3, 2],
          clients: [{ address: '10.0.0.0', prefix: 8 }],
          namespaces: ['shop'],
          reasons: ['no-such-service'],
          sources: ['cluster'],
        },
      },
    ],
    ['top interval=1s rows=5', { kind: 'top', filter: NO_FILTER, interval: 1000, rows: 5 }],
    ['cache dump', { kind: 'cache', action: 'dump', domain: '.' }],
    ['cache flush A.test', { kind: 'cache', action: 'flush', domain: 'a.test.' }],
    ['upstream 10.0.0.2:53 off', { kind: 'upstream', server: '10.0.0.2:53', isOn: false }],
    ['log-level debug', { kind: 'log-level', level: 'debug' }],
    ['query-log off', { kind: 'query-log', plan: undefined }],
    ['query-log reopen', { kind: 'reopen-query-log' }],
    ['query-log on', { kind: 'query-log', plan: { file: undefined, settings } }],
    [
      'query-log on file=/q=1 format=text sample=10 zone=a.test zone=b.test. rcode=nxdomain client=10.0.0.0/8',
      {
        kind: 'query-log',
        plan: {
          file: '/q=1',
          settings: {
            format: 'text',
            sample: 10,
            zones: ['a.test.', 'b.test.'],
            rcodes: [3],
            clients: [{ address: '10.0.0.0', prefix: 8 }],
          },
        },
      },
    ],
  ])('%s', (text, value) => {
    expect(read(text)).toEqual({ kind: 'good', value });
  });

  it.each([
    ['explain a..b', 'name: not a domain name: "a..b". Give one such as cart.shop.'],
    ['explain a.test nonsense', 'type: not a type: "nonsense". Give one such as A or AAAA.'],
    ['explain a.test ndots=99', 'ndots: out of range: "99". Give a number of dots from 0 to 15.'],
    ['status now', 'order: unexpected word: "now". Leave it out.'],
    ['log-level loud', 'log-level: unknown: "loud". Give error, warn, info or debug.'],
    ['log-level info now', 'order: unexpected word: "now". Leave it out.'],
    ['query-log maybe', 'query-log: unknown: "maybe". Give on, off or reopen.'],
    ['query-log on sample', 'sample: its value is missing. Give one, as in sample=VALUE.'],
    ['query-log on sample=0', 'sample: out of range: "0". Give a number of queries from 1 to 1000000.'],
    [
      'query-log on colour=red',
      'query-log: unknown: "colour". Give file, format, sample, zone, rcode or client.',
    ],
  ])('that is wrong says how: %s', (text, problem) => {
    const checked = read(text);
    expect(checked.kind === 'bad' && checked.problems.map(describeProblem)).toEqual([problem]);
  });
});
