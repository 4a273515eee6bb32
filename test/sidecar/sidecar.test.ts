/**
 * The whole sidecar, over HTTP, with servers that start and stop.
 */
import { readFileSync } from 'node:fs';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { parsePrometheusText } from '@portolan/kernel/base/testing/prometheus-text.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { processFamilies } from '@portolan/ops/sidecar/process-metrics.ts';
import { SIDECAR_PORT, Sidecar } from '@portolan/ops/sidecar/sidecar.ts';
import { HttpHost } from '@portolan/server/observe/http-host.ts';
import { PROCESS_METRICS } from '@portolan/server/observe/metrics/process.ts';
import {
  type ProbePlan,
  SIDECAR_DEFAULTS,
  type SidecarPlan,
} from '@portolan/server/settings/sidecar/sidecar-plan.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { ReceivedQuery } from '@portolan/testing/upstream/received-query.ts';
import { makeAddressRecord, reply } from '@portolan/testing/upstream/reply.ts';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';

const RECORDED = readFileSync(new URL('./recorded-metrics.txt', import.meta.url), 'utf8');
const COUNTS: Readonly<Record<string, number>> = {
  hits: 1_216_105,
  misses: 14_132,
  evictions: 3,
  insertions: 22_680,
  cachesize: 10_000,
};

/** What the servers of a test do, as dnsmasq would. */
function answer({ query, send }: ReceivedQuery): void {
  const [question] = query.questions;
  if (question?.class !== CLASS.CH) {
    send(reply(query));
    return;
  }
  const count = COUNTS[question.name.split('.')[0] ?? ''];
  const data = { kind: 'TXT', strings: [Buffer.from(String(count))] } as const;
  send(reply(query, { answers: [{ ...makeAddressRecord(query, '192.0.2.1'), class: CLASS.CH, data }] }));
}

const PATIENT = { timeout: 10_000 };

let log: RecordingLog;
let host: HttpHost;

beforeEach(() => {
  log = new RecordingLog();
  host = new HttpHost({ clock: systemClock, log });
});

async function startServer(react = answer): Promise<LoopbackUpstream> {
  const server = await LoopbackUpstream.start(react);
  onTestFinished(() => server.stop().catch(() => {}));
  return server;
}

function probe(label: string, port: number): ProbePlan {
  const server = { host: '127.0.0.1', port };
  return {
    label,
    server,
    name: parseName('kubernetes.default.svc.cluster.local'),
    type: TYPE.A,
    interval: 10,
  };
}

async function startSidecar(probes: readonly ProbePlan[], dnsmasqPort: number, http = {}): Promise<Sidecar> {
  const plan: SidecarPlan = {
    probes,
    dnsmasq: { server: { host: '127.0.0.1', port: dnsmasqPort }, interval: 10, delay: 0 },
    http: { ...SIDECAR_DEFAULTS.http, address: '127.0.0.1', port: 0, ...http },
  };
  const furtherMetrics = () => processFamilies('1.2.3');
  const httpDrops = () => host.countDrops(SIDECAR_PORT);
  const sidecar = new Sidecar(plan, { clock: systemClock, log, random: () => 0, httpDrops, furtherMetrics });
  onTestFinished(async () => {
    sidecar.stop();
    await host.stop();
  });
  await host.open(sidecar.httpPort);
  sidecar.start();
  return sidecar;
}

async function get(path: string) {
  const response = await fetch(`http://127.0.0.1:${host.findPort(SIDECAR_PORT)}${path}`);
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

/** Asks until the status is this one. */
async function hear(path: string, status: number) {
  for (const end = performance.now() + 10_000; performance.now() < end; ) {
    const heard = await get(path);
    if (heard.status === status) return heard;
  }
  throw new Error(`no ${status} from ${path}: ${(await get(path)).text}`);
}

describe('the health of a probe', () => {
  it('is unknown, then good, bad when the server dies, and good when it is back', async () => {
    let isDead = false;
    const server = await startServer((received) => {
      if (!isDead) answer(received);
      else received.send(reply(received.query, { answers: [] }));
    });
    await startSidecar([probe('kubedns', server.port)], server.port);
    expect((await hear('/healthcheck/kubedns', 200)).text).toMatch(
      /^\{"IsOk":true,"LatencySeconds":0\.\d{1,9},"Err":""\}$/,
    );
    isDead = true;
    const bad = await hear('/healthcheck/kubedns', 503);
    expect(bad.type).toBe('application/json');
    expect(bad.text).toBe(
      '{"IsOk":false,"LatencySeconds":0,"Err":"no RRs for domain \\"kubernetes.default.svc.cluster.local.\\""}',
    );
    isDead = false;
    await hear('/healthcheck/kubedns', 200);
  });

  it('is bad where no server listens, and the other probe none the worse', async () => {
    const server = await startServer();
    const port = await findFreePort();
    await startSidecar([probe('kubedns', port), probe('dnsmasq', server.port)], server.port);
    await hear('/healthcheck/dnsmasq', 200);
    // Both begin at once.
    const bad = await hear('/healthcheck/kubedns', 503);
    expect(JSON.parse(bad.text)).toMatchObject({
      IsOk: false,
      LatencySeconds: 0,
      Err: expect.stringMatching(/waiting for first probe|connection refused/),
    });
  });

  it('is bad until the first probe', async () => {
    const server = await startServer();
    const slow = { ...probe('slow', server.port), interval: 3_600_000 };
    const plan = { ...slow, server: { host: '127.0.0.1', port: server.port } };
    server.react = () => {};
    await startSidecar([plan], server.port);
    expect((await get('/healthcheck/slow')).text).toBe(
      '{"IsOk":false,"LatencySeconds":0,"Err":"waiting for first probe"}',
    );
  });
});

describe('HTTP', () => {
  it('says that the process lives, and what there is', async () => {
    const server = await startServer();
    await startSidecar([probe('x', server.port)], server.port);
    expect(await get('/healthz')).toMatchObject({
      status: 200,
      text: expect.stringMatching(/^ok \(.*\)\n$/),
    });
    expect((await get('/healthcheck/y')).status).toBe(404);
    expect((await get('/')).status).toBe(404);
  });

  it('has its metrics where it is told, under the name that it is told', async () => {
    const server = await startServer();
    await startSidecar([], server.port, { path: '/here', namespace: '' });
    const families = parsePrometheusText((await hear('/here', 200)).text);
    expect(families.has('dnsmasq_hits')).toBe(true);
    expect((await get('/metrics')).status).toBe(404);
  });

  it('names the flag when its port is taken', async () => {
    const server = await startServer();
    const port = server.port;
    await expect(startSidecar([], port, { port })).rejects.toThrow('Choose another with --prometheus-port.');
  });
});

describe('the metrics', () => {
  it('are those of the original: names, help, types, buckets', async () => {
    const server = await startServer();
    await startSidecar([probe('kubedns', server.port), probe('dnsmasq', server.port)], server.port);
    await hear('/healthcheck/kubedns', 200);
    const { text, type } = await hear('/metrics', 200);
    expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
    const ours = parsePrometheusText(text);
    for (const [name, recorded] of parsePrometheusText(RECORDED)) {
      const family = ours.get(name);
      expect(family).toMatchObject({ help: recorded.help, type: recorded.type });
      const series = (samples: typeof recorded.samples) =>
        samples.map(({ name, labels }) => ({ name, labels }));
      expect(series(family?.samples ?? [])).toEqual(series(recorded.samples));
    }
    const further = [...ours.keys()].filter((name) => !name.startsWith('kubedns_'));
    expect(further).toEqual([
      'portolan_http_connections_dropped_total',
      'portolan_build_info',
      ...PROCESS_METRICS.map(({ name }) => name).sort(),
    ]);
  });

  it("show dnsmasq's counts, and what went wrong", async () => {
    const server = await startServer();
    const sidecar = await startSidecar([probe('x', server.port)], server.port);
    await hear('/healthcheck/x', 200);
    const value = (name: string) => parsePrometheusText(sidecar.metrics()).get(`kubedns_${name}`)?.samples;
    await expect
      .poll(() => value('dnsmasq_hits'), PATIENT)
      .toEqual([{ name: 'kubedns_dnsmasq_hits', labels: {}, value: 1_216_105 }]);
    expect(value('dnsmasq_max_size')?.[0]?.value).toBe(10_000);
    expect(value('dnsmasq_evictions')?.[0]?.value).toBe(3);
    expect(value('dnsmasq_errors')?.[0]?.value).toBe(0);
    expect(value('probe_x_errors')?.[0]?.value).toBe(0);
    server.react = ({ query, send }) => send(reply(query, { answers: [] }));
    await expect.poll(() => value('dnsmasq_errors')?.[0]?.value, PATIENT).toBeGreaterThan(0);
    await expect.poll(() => value('probe_x_errors')?.[0]?.value, PATIENT).toBeGreaterThan(0);
    expect(value('dnsmasq_hits')?.[0]?.value).toBe(1_216_105);
  });
});
