/**
 * What each role sends to a collector of OpenTelemetry: failed queries as logs and traces, its state, and nothing where none is named.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms } from '../support/portolan.ts';
import { ROLES, startRole } from '../support/roles.ts';
import { itWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
  /** Log records or spans. */
  readonly records: readonly Readonly<Record<string, unknown>>[];
}

const flatten = (attributes: readonly Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

async function startCollector() {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = JSON.parse(Buffer.concat(parts).toString());
    const { resource, scopeLogs, scopeSpans } = (body.resourceLogs ?? body.resourceSpans)[0];
    const records = scopeLogs?.[0].logRecords ?? scopeSpans?.[0].spans;
    received.push({
      path: request.url ?? '',
      headers: request.headers,
      resource: flatten(resource.attributes),
      records: records.map((record: { attributes: Attribute[] }) => ({
        ...record,
        attributes: flatten(record.attributes),
      })),
    });
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const listRecords = (path: string) =>
    received.filter((each) => each.path === path).flatMap(({ records }) => records);
  return { url: `http://127.0.0.1:${port}`, received, listRecords };
}

async function startUpstream(): Promise<LoopbackUpstream> {
  const upstream = await LoopbackUpstream.start(({ query, send }) => {
    const failure = { header: { ...query.header, response: true, rcode: 2 }, answers: [] };
    const isBad = query.questions[0]?.name.startsWith('bad') === true;
    send(reply(query, isBad ? failure : {}));
  });
  onTestFinished(() => upstream.stop());
  return upstream;
}

describe.each(ROLES)('%s', (role) => {
  itWithTool(
    role === 'skydns' ? ['etcd'] : [],
    'sends its state and failed queries, and no others',
    async () => {
      const collector = await startCollector();
      const upstream = await startUpstream();
      const environment = {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-key=k%20v',
        OTEL_RESOURCE_ATTRIBUTES: 'k8s.cluster.name=blue',
      };
      const { program, address, port } = await startRole(role, { upstream: upstream.port }, { environment });
      const isReadiness = ({ eventName }: Readonly<Record<string, unknown>>) =>
        eventName === 'portolan.readiness';
      await waitUntil('the state', () => collector.listRecords('/v1/logs').some(isReadiness), {
        deadline: 30_000,
      });

      const server = { address, port };
      expect((await ask(server, 'good.example.', 'A')).header.rcode).toBe(0);
      expect((await ask(server, 'bad.example.', 'A')).header.rcode).toBe(2);
      const queries = () =>
        collector.listRecords('/v1/logs').filter((each) => each['eventName'] === 'portolan.query');
      await waitUntil('the failed query', () => queries().length > 0, { deadline: 30_000 });
      program.process.kill('SIGTERM');
      await program.exit;

      const failed = {
        'dns.question.name': 'bad.example.',
        'dns.response_code': 'SERVFAIL',
        'client.address': address,
      };
      expect(queries()).toMatchObject([{ severityText: 'WARN', attributes: failed }]);
      const spans = collector
        .listRecords('/v1/traces')
        .filter(({ status }) => Object.keys(status as object).length > 0);
      expect(spans).toMatchObject([{ name: 'DNS A', kind: 2, status: { code: 2 }, attributes: failed }]);
      expect(spans[0]?.['traceId']).toMatch(/^[0-9a-f]{32}$/);
      for (const { headers, resource } of collector.received) {
        expect(headers).toMatchObject({ 'x-key': 'k v', 'content-type': 'application/json' });
        expect(resource).toMatchObject({
          'service.name': 'portolan',
          'portolan.role': role,
          'k8s.cluster.name': 'blue',
        });
      }
    },
  );
});

it('a mistake in the environment is named, and DNS is served all the same', async () => {
  const upstream = await startUpstream();
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' };
  const { program, address, port } = await startRole('serve', { upstream: upstream.port }, { environment });
  expect((await ask({ address, port }, 'good.example.', 'A')).header.rcode).toBe(0);
  await waitUntil('the error', () => program.errors.includes('otlp: nothing is exported'));
  expect(program.errors).toContain('OTEL_EXPORTER_OTLP_ENDPOINT: not an http or https URL');
});
