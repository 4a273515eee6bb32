import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { expect, it } from 'vitest';
import type { ApiResponse, Connection } from '../../api/connection/types.ts';
import { observeRequests } from './api-requests.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));
const NO_LIMITS = { qps: 0, burst: 0, maxInflight: 0 };
const response: ApiResponse = { status: 200, headers: {}, body: (async function* () {})(), discard() {} };

function connectTo(request: Connection['request'], limits: Partial<typeof NO_LIMITS> = {}) {
  const clock = new ManualClock();
  const metrics = new MetricRegistry();
  const plain: Connection = {
    kind: 'connection',
    server: 'https://192.0.2.1:6443/x',
    source: 'test',
    request,
    refreshCredentials() {},
    close() {},
  };
  const connection = observeRequests(plain, { ...NO_LIMITS, ...limits }, { metrics, clock });
  return { connection, clock, metrics };
}

it('counts requests by status and method, failures too, and how long they take', async () => {
  const statuses = [200, 403];
  const { connection, metrics, clock } = connectTo(async () => {
    clock.advance(30);
    const status = statuses.shift();
    if (status === undefined) throw new Error('refused');
    return { ...response, status };
  });
  await connection.request('/a');
  await connection.request('/b', { method: 'PUT' });
  await expect(connection.request('/c')).rejects.toThrow('refused');
  const lines = (await metrics.render()).split('\n');
  const family = 'coredns_kubernetes_rest_client';
  const host = 'host="192.0.2.1:6443"';
  expect(lines).toEqual(
    expect.arrayContaining([
      `${family}_requests_total{code="200",method="GET",${host}} 1`,
      `${family}_requests_total{code="403",method="PUT",${host}} 1`,
      `${family}_requests_total{code="<error>",method="GET",${host}} 1`,
      `${family}_request_duration_seconds_bucket{le="0.025",verb="GET",${host}} 0`,
      `${family}_request_duration_seconds_bucket{le="0.05",verb="GET",${host}} 2`,
      `${family}_rate_limiter_duration_seconds_count{verb="GET",${host}} 2`,
    ]),
  );
});

it('lets a burst pass, then so many a second', async () => {
  let sent = 0;
  const { connection, clock } = connectTo(
    async () => {
      sent += 1;
      return response;
    },
    { qps: 2, burst: 3 },
  );
  for (let count = 0; count < 5; count += 1) void connection.request('/a');
  await settled();
  expect(sent).toBe(3);
  clock.advance(499);
  await settled();
  expect(sent).toBe(3);
  clock.advance(1);
  await settled();
  expect(sent).toBe(4);
  clock.advance(500);
  await settled();
  expect(sent).toBe(5);
});

it('keeps requests back while as many as are allowed have no response, and sends none that was given up', async () => {
  const replies: ((value: ApiResponse) => void)[] = [];
  const paths: string[] = [];
  const { connection } = connectTo(
    (path) => {
      paths.push(path);
      return new Promise((resolve) => void replies.push(resolve));
    },
    { maxInflight: 1 },
  );
  const gone = AbortSignal.abort(new Error('gone'));
  void connection.request('/a');
  const given = connection.request('/b', { signal: gone });
  void connection.request('/c');
  await settled();
  expect(paths).toEqual(['/a']);
  replies.shift()?.(response);
  await expect(given).rejects.toThrow('gone');
  await settled();
  expect(paths).toEqual(['/a', '/c']);
});
