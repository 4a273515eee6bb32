/**
 * The built command `portolan corefile`.
 */
import { describe, expect, it } from 'vitest';
import { makeTemporaryFolder } from '../../src/base/testing/temporary-folder.ts';
import { Program } from '../support/portolan.ts';

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

async function run(...args: readonly string[]): Promise<Ended> {
  const program = new Program(['corefile', ...args]);
  const { code } = await program.exit;
  return { code, output: program.output, errors: program.errors };
}

async function writeFile(name: string, text: string): Promise<string> {
  return (await makeTemporaryFolder()).write(name, text);
}

describe('portolan corefile check', () => {
  it('prints every problem with its place and what to do, and exits with 1', async () => {
    const file = await writeFile(
      'Corefile',
      '. {\n    cahce 30\n    health 8080\n    forward . 192.0.2.1\n}\n.:53 {\n    whoami\n}\n',
    );
    const { code, output } = await run('check', file);
    expect(code).toBe(1);
    expect(output).toBe(
      [
        `${file}:2 - Error during parsing: Unknown directive 'cahce'`,
        `  ${file}:2: Did you mean 'cache'?`,
        'plugin/health: address 8080: missing port in address',
        `  ${file}:3: Write the port behind a colon, as in :8080.`,
        'cannot serve dns://.:53 - it is already defined',
        `  ${file}:6: It is served by ${file}:1. Put the directives of both into one server block, or bind them to different addresses.`,
        '3 problems, 0 warnings',
        '',
      ].join('\n'),
    );
  });

  it('warns of traps, and exits with 0', async () => {
    const file = await writeFile(
      'Corefile',
      'a.example {\n    hosts {\n        192.0.2.1 a.example\n    }\n    forward . 192.0.2.1\n}\n',
    );
    const { code, output } = await run('check', file);
    expect(code).toBe(0);
    expect(output).toContain(`[WARNING] ${file}:2: Without fallthrough, every name that hosts does not have`);
    expect(output).toContain('0 problems, 2 warnings\n');
  });

  it('says what of prometheus has no effect, and that metrics for TLS are not shown', async () => {
    const file = await writeFile(
      'Corefile',
      '. {\n    prometheus :9153 {\n        runtime_metrics\n        tls web.yaml\n    }\n    whoami\n}\n',
    );
    const { code, output } = await run('check', file);
    expect(code).toBe(0);
    expect(output).toContain(`[WARNING] ${file}:2: runtime_metrics has no effect`);
    expect(output).toContain('plugin/metrics: tls is not built into Portolan: no metrics on :9153.');
  });

  it('knows the plugins of the version that is named', async () => {
    const file = await writeFile('Corefile', '. {\n    shed\n    whoami\n}\n');
    expect((await run('check', file)).output).toContain('plugin/shed: not built into Portolan');
    expect((await run('check', '--compat=1.13', file)).output).toContain("Unknown directive 'shed'");
  });

  it('refuses what it does not know, and files that are not there', async () => {
    const missing = await run('check', '/nonexistent/Corefile');
    expect(missing.code).toBe(1);
    expect(missing.errors).toContain(
      'loading Caddyfile via flag: open /nonexistent/Corefile: no such file or directory',
    );
    const wrong = await run('check', '--compat=2', '--dns-port=0', '/nonexistent/Corefile');
    expect(wrong.code).toBe(2);
    expect(wrong.errors).toContain('--compat');
    expect(wrong.errors).toContain('--dns-port');
    expect((await run('check')).code).toBe(2);
  });
});

describe('portolan corefile from-kube-dns', () => {
  const manifest = [
    'apiVersion: v1',
    'kind: ConfigMap',
    'data:',
    '  stubDomains: |',
    '    {"acme.local": ["1.2.3.4"]}',
    '  federations: foo=foo.feddomain.com',
    '',
  ].join('\n');

  it('prints a Corefile that the check takes, and notices', async () => {
    const { code, output, errors } = await run('from-kube-dns', await writeFile('kube-dns.yaml', manifest));
    expect(code).toBe(0);
    expect(errors).toBe('[WARNING] federations: not available in CoreDNS since 1.7.0, dropped\n');
    expect(output).toContain(
      'acme.local:53 {\n    errors\n    cache 30\n    loop\n    forward . 1.2.3.4\n}\n',
    );
    expect((await run('check', await writeFile('Corefile', output))).code).toBe(0);
  });

  it('takes the folder that a ConfigMap is mounted in', async () => {
    const folder = await makeTemporaryFolder();
    await folder.write('upstreamNameservers', '["8.8.8.8"]');
    expect((await run('from-kube-dns', folder.path)).output).toContain('forward . 8.8.8.8 {');
  });

  it('refuses what is no ConfigMap', async () => {
    const { code, errors } = await run('from-kube-dns', await writeFile('pod.yaml', 'kind: Pod\n'));
    expect(code).toBe(1);
    expect(errors).toContain('not a ConfigMap');
    expect((await run('from-kube-dns', '/nonexistent')).errors).toContain('no such file or directory');
  });
});
