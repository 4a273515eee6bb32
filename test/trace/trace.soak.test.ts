/**
 * Spans of `trace`: those of CoreDNS, in batches, whatever their collector does.
 */
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask, askShort } from '@portolan/testing/client/ask.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { readRecording } from '../support/recordings.ts';
import { growTrees, type SpanTree, ZipkinCollector } from './collector.ts';

afterEach(endAllPrograms);

interface RecordedSpans {
  readonly name: string;
  readonly about: string;
  readonly corefile: string;
  readonly files?: Readonly<Record<string, string>>;
  /** A name and a type, and `tcp` or the address of the server. */
  readonly asks: readonly string[];
  /** Of the requests; null: there is none. */
  readonly path: string | null;
  readonly traces: readonly SpanTree[];
}

const RECORDED = readRecording<RecordedSpans>('test/trace/recorded-spans.jsonl');

/** Each query has three spans. @param settings lines in the block of `trace` */
const whoami = (collector: ZipkinCollector, ...settings: readonly string[]) =>
  `. {\n bind 127.0.0.1\n trace ${collector.address} {\n${settings.join('\n')}\n}\n prometheus 127.0.0.1:{METRICS}\n whoami\n}\n`;

async function serve(corefile: string, files: Readonly<Record<string, string>> = {}) {
  const port = await findFreePort();
  const port2 = await findFreePort();
  const metrics = await findFreePort();
  const fill = (text: string) =>
    text
      .replaceAll('{PORT}', String(port))
      .replaceAll('{PORT2}', String(port2))
      .replaceAll('{METRICS}', String(metrics));
  const folder = await makeTemporaryFolder();
  for (const [name, content] of Object.entries(files)) await folder.write(name, content);
  // Paths in a Corefile are relative to the folder of the process.
  const named = Object.keys(files).reduce(
    (text, name) => text.replaceAll(name, `${folder.path}/${name}`),
    corefile,
  );
  const conf = await folder.write('Corefile', fill(named));
  const program = runPortolan(['coredns', '-conf', conf, '-dns.port', String(port)]);
  await waitUntil('the banner', () => program.output.includes('linux/'));
  const server = { address: '127.0.0.1', port };
  const countSpans = async () => {
    const page = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    const lines = page.matchAll(/^portolan_trace_spans_total\{.*result="(\w+)"\} (\d+)$/gm);
    return Object.fromEntries(Array.from(lines, ([, result = '', count]) => [result, Number(count)]));
  };
  return { program, server, port2, countSpans };
}

describe('spans that were recorded', () => {
  it.each(RECORDED.map((each) => [each.name, each] as const))('%s', async (_, recorded) => {
    const collector = await ZipkinCollector.start();
    const { server, port2, program } = await serve(
      recorded.corefile.replaceAll('{COLLECTOR}', collector.address),
      recorded.files,
    );
    for (const asked of recorded.asks) {
      const [name = '', type = 'A', how] = asked.split(' ');
      await ask(how === '::1' ? { ...server, address: how } : server, `${name}.`, type as 'A', {
        transport: how === 'tcp' ? 'tcp' : 'udp',
      });
    }
    await waitUntil('the traces', () => collector.countTraces() >= recorded.traces.length);
    program.signal('SIGTERM');
    await program.exit;
    // The probe of `loop` has a random name.
    const trees = growTrees(collector.spans).filter(({ tags }) => tags?.['coredns.io/type'] !== 'HINFO');
    expect(JSON.parse(JSON.stringify(trees).replaceAll(String(port2), '{PORT2}'))).toEqual(recorded.traces);
    expect(new Set(collector.batches.map(({ path }) => path))).toEqual(
      new Set(recorded.path === null ? [] : [recorded.path]),
    );
    for (const { headers } of collector.batches)
      expect(headers).toMatchObject({ b3: '0', 'content-type': 'application/json' });
  });
});

describe('a collector', () => {
  it('gets spans in batches of the size and at the times that the Corefile says', async () => {
    const collector = await ZipkinCollector.start();
    const { server, countSpans } = await serve(
      whoami(collector, 'zipkin_max_batch_size 5', 'zipkin_max_batch_interval 1h'),
    );
    for (let index = 0; index < 5; index += 1) await ask(server, `a${index}.example.`, 'A');
    await waitUntil('three batches', () => collector.batches.length === 3);
    expect(collector.batches.map(({ spans }) => spans.length)).toEqual([5, 5, 5]);
    expect(await countSpans()).toEqual({ sent: 15 });
  });

  it('that refuses spans is not asked for them again, and one line says so', async () => {
    const collector = await ZipkinCollector.start(400);
    const { server, program, countSpans } = await serve(whoami(collector, 'zipkin_max_batch_size 3'));
    for (let index = 0; index < 5; index += 1) {
      await ask(server, `a${index}.example.`, 'A');
      await waitUntil('the batch', () => collector.batches.length === index + 1);
    }
    collector.reaction = 202;
    await ask(server, 'b.example.', 'A');
    await waitUntil('the end', () => program.output.includes('sending spans again'));
    expect(program.output.match(/plugin\/trace: .*/g)).toEqual([
      expect.stringMatching(
        /^plugin\/trace: spans not sent state=refused endpoint=\S+ reason="?status 400"?$/,
      ),
      expect.stringMatching(/^plugin\/trace: sending spans again endpoint=\S+ dropped=15 /),
    ]);
    expect(await countSpans()).toEqual({ dropped: 15, sent: 3 });
  });

  it.each([
    ['that answers nothing', 'silence'],
    ['that cannot take more now', 503],
  ] as const)('%s costs no answer, and the oldest spans', async (_, reaction) => {
    const collector = await ZipkinCollector.start(reaction);
    const { server, program, countSpans } = await serve(
      whoami(collector, 'zipkin_max_batch_size 2', 'zipkin_max_backlog_size 4'),
    );
    for (let index = 0; index < 50; index += 1)
      expect(await askShort(server, `a${index}.example.`, 'A')).toBe('NODATA');
    // Two are on the way, four wait.
    await waitUntil('the batch', () => collector.batches.length > 0);
    expect(await countSpans()).toEqual({ dropped: 144 });
    program.signal('SIGTERM');
    expect((await program.exit).code).toBe(0);
  });

  it('that is not there costs no answer', async () => {
    const port = await findFreePort();
    const { server, program } = await serve(`. {\n bind 127.0.0.1\n trace 127.0.0.1:${port}\n whoami\n}\n`);
    for (let index = 0; index < 20; index += 1)
      expect(await askShort(server, `a${index}.example.`, 'A')).toBe('NODATA');
    program.signal('SIGTERM');
    expect((await program.exit).code).toBe(0);
  });
});

it('labels lines of the log with the id of the trace', async () => {
  const collector = await ZipkinCollector.start();
  const { server, program } = await serve(
    `. {\n bind 127.0.0.1\n metadata\n trace ${collector.address} {\n  every 2\n  zipkin_max_batch_interval 1ms\n }\n log . "id {name} {/trace/traceid}"\n whoami\n}\n`,
  );
  for (const name of ['a.', 'b.', 'c.']) await ask(server, name, 'A');
  await waitUntil('the lines', () => (program.output.match(/id \S+ \S+/g)?.length ?? 0) === 3);
  await waitUntil('the trace', () => collector.countTraces() === 1);
  const id = collector.spans[0]?.traceId;
  expect(program.output.match(/id \S+ \S+/g)).toEqual(['id a. -', `id b. ${id}`, 'id c. -']);
});
