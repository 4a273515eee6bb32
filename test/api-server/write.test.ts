import { expect, onTestFinished, test } from 'vitest';
import { ApiServerDouble } from './api-server.ts';

test('objects are created, replaced and deleted over the network, as in a real cluster', async () => {
  const double = await ApiServerDouble.start();
  onTestFinished(() => double.stop());
  const collection = `${double.url}/api/v1/namespaces/a/services`;
  const send = async (method: string, url: string, body?: unknown) => {
    const answer = await fetch(url, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const service = { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } };
  const created = await send('POST', collection, service);
  expect(created).toMatchObject({ status: 201, body: { kind: 'Service', metadata: { namespace: 'a' } } });
  const clusterIP = expect.stringMatching(/^10\.97\.\d+\.\d+$/);
  expect(created.body).toMatchObject({ spec: { clusterIP } });
  expect((await send('POST', collection, service)).status).toBe(409);
  expect((await send('PUT', `${collection}/web`, service)).status).toBe(200);
  expect((await send('PUT', `${collection}/none`, { metadata: { name: 'none' } })).status).toBe(404);
  expect((await send('POST', collection, { spec: {} })).status).toBe(400);
  expect((await send('DELETE', `${collection}/web`)).status).toBe(200);
  expect((await send('DELETE', `${collection}/web`)).status).toBe(404);
});

test('a strategic merge patch merges lists by the keys of their elements', async () => {
  const double = await ApiServerDouble.start();
  onTestFinished(() => double.stop());
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP' },
    { name: 'dns-tcp', port: 53, protocol: 'TCP' },
    { name: 'metrics', port: 9153 },
  ];
  const metadata = { name: 'dns', namespace: 'a', labels: { a: 'b' } };
  double.put({ kind: 'Service', metadata, spec: { clusterIP: '10.97.0.1', ports } });
  const changed = [
    { port: 53, name: 'udp' },
    { port: 9153, $patch: 'delete' },
    { port: 54, name: 'new' },
  ];
  const answer = await fetch(`${double.url}/api/v1/namespaces/a/services/dns`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    body: JSON.stringify({ metadata: { labels: { a: null, c: 'd' } }, spec: { ports: changed } }),
  });
  expect(await answer.json()).toMatchObject({
    metadata: { labels: { c: 'd' } },
    spec: { ports: [{ name: 'udp', protocol: 'UDP' }, { name: 'dns-tcp' }, { port: 54, name: 'new' }] },
  });
});
