/**
 * The HTTP paths of `portolan kube-dns`, with the environment that manifests of kube-dns set.
 */
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { parsePrometheusText } from '@portolan/kernel/base/testing/prometheus-text.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

const ADDRESS = '127.0.0.1';
/** What kube-dns calls the entries of 10.96.20.10. */
const KEY = '6332623732306465';

interface CacheNode {
  readonly ChildNodes: Readonly<Record<string, CacheNode>>;
  readonly Entries: object;
}

afterEach(endAllPrograms);

interface Addresses {
  readonly dnsPort: number;
  readonly health: string;
  /** `undefined` where there is no port for metrics. */
  readonly metrics: string;
}

async function start(environment: Readonly<Record<string, string>> = {}): Promise<Addresses> {
  const dnsPort = await findFreePort(ADDRESS);
  const program = runPortolan(
    [
      'kube-dns',
      '--domain=cluster.local.',
      '--example',
      '--upstream=none',
      '--log-format=json',
      `--dns-bind-address=${ADDRESS}`,
      `--dns-port=${dnsPort}`,
      `--healthz-port=${ADDRESS}:0`,
    ],
    { environment },
  );
  const serving = await program.heard('serving');
  await program.heard('cluster listed');
  return { dnsPort, health: String(serving['health']), metrics: String(serving['metrics']) };
}

async function get(address: string, path: string): Promise<readonly [number, string]> {
  const response = await fetch(`${address}${path}`);
  return [response.status, await response.text()];
}

it('is ready and alive in the words of kube-dns', async () => {
  const { health } = await start();
  expect(await get(health, '/readiness')).toEqual([200, 'ok\n']);
  expect(await get(health, '/healthz')).toEqual([200, 'ok\n']);
});

it('shows the zone at /cache', async () => {
  const { health } = await start();
  const response = await fetch(`${health}/cache`);
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const entry = (host: string, port?: number) => ({ host, port, priority: 10, weight: 10, ttl: 30 });
  const atPort = (port: number) => ({
    ChildNodes: {},
    Entries: { [KEY]: entry('cart.shop.svc.cluster.local.', port) },
  });
  const cart = ['local', 'cluster', 'svc', 'shop', 'cart'].reduce<CacheNode | undefined>(
    (node, label) => node?.ChildNodes[label],
    (await response.json()) as CacheNode,
  );
  expect(cart).toEqual({
    ChildNodes: { _tcp: { ChildNodes: { _http: atPort(80), _grpc: atPort(9000) }, Entries: {} } },
    Entries: { [KEY]: entry('10.96.20.10') },
  });
});

describe('the metrics of SkyDNS', () => {
  it('are on the port of the environment, under its path and names', async () => {
    const { dnsPort, metrics } = await start({
      PROMETHEUS_PORT: `${ADDRESS}:0`,
      PROMETHEUS_PATH: '/old',
      PROMETHEUS_NAMESPACE: 'kube',
      PROMETHEUS_SUBSYSTEM: 'zone',
    });
    await ask({ address: ADDRESS, port: dnsPort }, 'cart.shop.svc.cluster.local', 'A');
    const families = parsePrometheusText((await get(metrics, '/old'))[1]);
    expect(families.get('kube_zone_dns_request_count_total')?.samples).toEqual([
      { name: 'kube_zone_dns_request_count_total', labels: { system: 'auth' }, value: 1 },
    ]);
    // One registry of paths, as in kube-dns.
    expect(await get(metrics, '/readiness')).toEqual([200, 'ok\n']);
  });

  it('are not there unless a port is named', async () => {
    const { dnsPort, health, metrics } = await start();
    expect(metrics).toBe('undefined');
    await ask({ address: ADDRESS, port: dnsPort }, 'cart.shop.svc.cluster.local', 'A');
    const [, text] = await get(health, '/metrics');
    expect(text).not.toContain('dns_request_count_total');
    expect(parsePrometheusText(text).has('portolan_ready')).toBe(true);
  });
});
