/**
 * `portolan diff`: the plan and the answers of two configurations, without a server.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { afterFile } from '../support/after-file.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const folder = await makeTemporaryFolder(afterFile);

const OLD =
  '. {\n hosts {\n  192.0.2.1 a.example\n  192.0.2.2 b.example\n  fallthrough\n }\n kubernetes cluster.local\n forward . 192.0.2.53\n}\n';
const NEW = `${OLD.replace('192.0.2.2', '192.0.2.3')}corp.example {\n forward . 192.0.2.54\n}\n`;
const QUESTIONS = 'a.example\nb.example\nwww.example.org\nwww.corp.example\ncart.shop.svc.cluster.local\n';

async function diff(args: readonly string[]) {
  const program = runPortolan(['diff', ...args]);
  const { code } = await program.exit;
  return { code, output: program.output, errors: program.errors };
}

async function writeFolder(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const path = join(folder.path, name);
  await mkdir(path);
  for (const [file, text] of Object.entries(files)) await writeFile(join(path, file), text);
  return path;
}

describe('portolan diff', () => {
  it('shows what changes in the plan of a Corefile, and which questions would be answered otherwise', async () => {
    const old = await folder.write('old', OLD);
    const next = await folder.write('new', NEW);
    const questions = await folder.write('questions', QUESTIONS);
    const replay = ['--replay', questions, '--manifests', 'examples/cluster', '--output', 'json'];
    const { code, output, errors } = await diff([old, next, ...replay]);
    expect({ code, errors }).toEqual({ code: 1, errors: '' });
    const report = JSON.parse(output) as Record<string, unknown>;
    expect(report['changes']).toEqual([
      { where: 'dns://:53 .', what: "hosts.inline[1]: '192.0.2.2 b.example' -> '192.0.2.3 b.example'" },
      { where: 'dns://:53 corp.example.', what: 'added: forward' },
    ]);
    expect(report['replay']).toMatchObject({
      counts: { questions: 5, equal: 3, different: 2 },
      differences: [{ reason: 'answer: other records', count: 2 }],
    });
    expect(output).toContain('would be forwarded to dns://192.0.2.53:53');
    expect(output).toContain('would be forwarded to dns://192.0.2.54:53');
  });

  it('compares ConfigMaps of kube-dns and folders of manifests', async () => {
    const config = (server: string) => ({ stubDomains: `{"corp.example": ["${server}"]}` });
    const [old, next] = [
      await writeFolder('config-1', config('192.0.2.1')),
      await writeFolder('config-2', config('192.0.2.2')),
    ];
    const questions = await folder.write('corp', 'www.corp.example\n');
    const changed = await diff([old, next, '--replay', questions]);
    expect(changed).toMatchObject({ code: 1, errors: '' });
    expect(changed.output).toContain("'192.0.2.1' -> '192.0.2.2'");
    expect(changed.output).toContain('would be forwarded to 192.0.2.2:53');
    const cluster = await folder.write('cluster', 'cart.shop.svc.cluster.local\n');
    const empty = await writeFolder('empty', {});
    const moved = await diff(['examples/cluster', empty, '--replay', cluster]);
    expect(moved).toMatchObject({ code: 1, errors: '' });
    expect(moved.output).toContain('NOERROR from old, NXDOMAIN from new');
  });

  it('ends like diff: 0 without differences, 2 where it cannot compare', async () => {
    const old = await folder.write('old', OLD);
    const broken = await folder.write('broken', '. {\n nonsense\n}\n');
    const results = await Promise.all([
      diff([old, old]),
      diff([old, broken]),
      diff([old, '/nonexistent']),
      diff([old, 'examples/cluster']),
    ]);
    expect(results.map(({ code }) => code)).toEqual([0, 2, 2, 2]);
    expect(results[0]?.output).toBe('');
    expect(results[1]?.errors).toContain('nonsense');
    expect(results[3]?.errors).toContain('Give two of a kind.');
  });
});
