/**
 * `portolan compare`: two servers, the same questions, and what the report says.
 */
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { afterFile } from '../support/after-file.ts';
import { endAllPrograms, runPortolan, servePortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const folder = await makeTemporaryFolder(afterFile);
const EXAMPLE = ['--manifests', 'examples/cluster'];

async function serveCorefile(text: string): Promise<string> {
  const port = await findFreePort();
  const file = await folder.write(`Corefile-${port}`, text.replaceAll('PORT', String(port)));
  const program = runPortolan(['coredns', '-conf', file]);
  await waitUntil(
    'the Corefile is served',
    () => program.output.includes('CoreDNS-') || program.ended !== undefined,
  );
  return `127.0.0.1:${port}`;
}

async function compare(args: readonly string[]) {
  const program = runPortolan(['compare', ...args]);
  const { code } = await program.exit;
  return { code, output: program.output, errors: program.errors };
}

const QUESTIONS = [
  'cart.shop.svc.cluster.local',
  'cart.shop.svc.cluster.local AAAA',
  'nobody.shop.svc.cluster.local A',
  'cluster.local SOA',
].join('\n');

describe('portolan compare', () => {
  it('says that two servers answer alike, over UDP and TCP', async () => {
    const one = await servePortolan(EXAMPLE);
    const other = await servePortolan(EXAMPLE);
    const questions = await folder.write('questions', QUESTIONS);
    const servers = [`127.0.0.1:${one.port}`, `tcp://127.0.0.1:${other.port}`];
    const { code, output, errors } = await compare([...servers, '--questions', questions]);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(output).toContain('4 questions\n4 equal\n0 different');
  });

  it('names the differences of a Corefile and the example cluster', async () => {
    const one = await serveCorefile(
      '.:PORT {\n bind 127.0.0.1\n hosts {\n 192.0.2.1 cart.shop.svc.cluster.local\n }\n}',
    );
    const other = await servePortolan(EXAMPLE);
    const questions = await folder.write('questions', `${QUESTIONS}\nnot..a.name`);
    const args = [one, `127.0.0.1:${other.port}`, '--questions', questions, '--output', 'json'];
    const { code, output } = await compare(args);
    expect(code).toBe(1);
    const report = JSON.parse(output) as Record<string, unknown>;
    expect(report).toMatchObject({
      kind: 'Comparison',
      counts: { questions: 4, equal: 0, different: 4 },
      leftOut: { count: 1, first: expect.stringMatching(/^line 5: not a name/) },
    });
    expect(JSON.stringify(report['differences'])).toContain('192.0.2.1');
  });

  it('ends with 2 if a server does not reply, or the arguments are wrong', async () => {
    const { port } = await servePortolan(EXAMPLE);
    const questions = await folder.write('questions', QUESTIONS);
    const [silent, wrong, missing] = await Promise.all([
      compare([`127.0.0.1:${port}`, `127.0.0.1:${await findFreePort()}`, '--questions', questions]),
      compare([`127.0.0.1:${port}`, 'dns.example', '--questions', questions]),
      compare([`127.0.0.1:${port}`, `127.0.0.1:${port}`, '--questions', '/nonexistent']),
    ]);
    expect([silent.code, wrong.code, missing.code]).toEqual([2, 2, 2]);
    expect(silent.errors).toContain('no reply to any of the first');
    expect(wrong.errors).toContain('server B: not the address of a server');
    expect(missing.errors).toContain('the questions cannot be read');
  });
});
