/**
 * The built command `portolan corefile`.
 */

import { readFileSync } from 'node:fs';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { describe, expect, it } from 'vitest';
import { runPortolan } from '../support/portolan.ts';

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

async function run(...args: readonly string[]): Promise<Ended> {
  const program = runPortolan(['corefile', ...args]);
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
        `  ${file}:2: Did you mean cache?`,
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

  it('says what of prometheus has no effect', async () => {
    const file = await writeFile(
      'Corefile',
      '. {\n    prometheus :9153 {\n        runtime_metrics\n        tls web.yaml\n    }\n    whoami\n}\n',
    );
    const { code, output } = await run('check', file);
    expect(code).toBe(0);
    expect(output).toContain(`[WARNING] ${file}:2: runtime_metrics has no effect`);
    expect(output).toContain('0 problems, 1 warning\n');
  });

  it('knows the plugins of the version that is named', async () => {
    const file = await writeFile('Corefile', '. {\n    shed\n    whoami\n}\n');
    expect((await run('check', file)).code).toBe(0);
    expect((await run('check', '--compat=1.13', file)).output).toContain("Unknown directive 'shed'");
  });

  it('names the deviations that the Corefile meets, with --compat', async () => {
    const file = await writeFile('Corefile', '. {\n    file zone example.org\n    chaos\n}\n');
    const { output } = await run('check', '--compat=1.14', file);
    expect(output).toMatch(/^ {2}generated-ttl +restored +Records of \$GENERATE have the TTL of \$TTL/m);
    expect(output).toMatch(/^ {2}own-authors +stays +authors\.bind names Portolan's authors\.$/m);
    expect(output).toContain('extended-errors');
    expect(output).not.toContain('forward-equal-questions');
    const kept = await run('check', '--compat=1.14,-generated-ttl', file);
    expect(kept.output).toMatch(/^ {2}generated-ttl +kept /m);
    const wrong = await run('check', '--compat=generated-tt', file);
    expect([wrong.code, wrong.errors]).toEqual([2, expect.stringContaining('Did you mean generated-ttl?')]);
    expect((await run('check', file)).output).not.toContain('generated-ttl');
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

describe('portolan corefile fmt', () => {
  const untidy = '. {\n  errors # all\n    whoami\n}\na.example {\nwhoami\n}\n';
  const tidy = '. {\n    errors # all\n    whoami\n}\n\na.example {\n    whoami\n}\n';

  it('prints the file, or changes it', async () => {
    const file = await writeFile('Corefile', untidy);
    expect(await run('fmt', file)).toEqual({ code: 0, output: tidy, errors: '' });
    expect(await run('fmt', '--diff', file)).toEqual({ code: 1, output: `${file}\n`, errors: '' });
    expect(await run('fmt', '--write', file)).toEqual({ code: 0, output: '', errors: '' });
    expect(readFileSync(file, 'utf8')).toBe(tidy);
    expect(await run('fmt', '--diff', file)).toEqual({ code: 0, output: '', errors: '' });
  });

  it('changes no file whose braces do not match', async () => {
    const file = await writeFile('Corefile', '. {\n  whoami\n');
    const { code, output, errors } = await run('fmt', '--write', file);
    expect([code, output]).toEqual([1, '']);
    expect(errors).toBe(`${file}:1: this brace is not closed\n  portolan corefile check names all faults.\n`);
    expect(readFileSync(file, 'utf8')).toBe('. {\n  whoami\n');
  });
});

describe('portolan corefile migrate', () => {
  it('prints the Corefile, and each change on standard error', async () => {
    const file = await writeFile('Corefile', '.:53 {\n    proxy . 192.0.2.1 # up\n}\n');
    expect(await run('migrate', '--from=1.4.0', '--to=1.5.0', file)).toEqual({
      code: 0,
      output: '.:53 {\n    forward . 192.0.2.1 # up\n}\n',
      errors: `${file}:2: Plugin "proxy" is removed in 1.5.0. It is replaced by "forward".\n`,
    });
  });

  it('makes a Corefile of today that the check takes', async () => {
    const old =
      '.:53 {\n    health\n    kubernetes cluster.local {\n        upstream\n    }\n    proxy . 192.0.2.1\n}\n';
    const file = await writeFile('Corefile', old);
    expect((await run('check', file)).code).toBe(1);
    expect((await run('migrate', '--from=1.1.3', '--write', file)).output).toBe('');
    expect((await run('check', file)).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('lameduck 5s');
  });

  it('writes imported files only if told to, and names them otherwise', async () => {
    const folder = await makeTemporaryFolder();
    const imported = await folder.write('up.override', 'proxy . 192.0.2.1\n');
    const file = await folder.write('Corefile', '. {\n    import *.override\n}\n');
    const printed = await run('migrate', '--from=1.4.0', '--to=1.5.0', file);
    expect(printed.errors).toContain(`${imported}: changes too. Give --write to change it.\n`);
    expect(readFileSync(imported, 'utf8')).toBe('proxy . 192.0.2.1\n');
    await run('migrate', '--from=1.4.0', '--to=1.5.0', '--write', file);
    expect(readFileSync(imported, 'utf8')).toBe('forward . 192.0.2.1\n');
  });

  it('refuses versions that it does not know, in the words of the tool of CoreDNS', async () => {
    const file = await writeFile('Corefile', '. {\n}\n');
    const unknown = await run('migrate', '--from=v1.6.9', file);
    expect(unknown.code).toBe(1);
    expect(unknown.errors).toContain(
      "error while migration: start version 'v1.6.9' not supported\n  Give one of 1.1.3, ",
    );
    expect((await run('migrate', '--from=1.7.0', '--to=1.6.9', file)).errors).toContain(
      "cannot migrate up to '1.6.9' from '1.7.0'",
    );
    expect((await run('migrate', '--from=1.7.0', '--to=1.6.9', '--downgrade', file)).code).toBe(0);
    expect((await run('migrate', file)).code).toBe(2);
  });
});

describe('portolan corefile survey', () => {
  it('finds Corefiles and ConfigMaps, and says what stops them and what differs', async () => {
    const folder = await makeTemporaryFolder();
    await folder.write('east.Corefile', '. {\n    whoami\n    nomad\n}\n');
    await folder.write('west/Corefile', '. {\n    chaos\n    foward . 192.0.2.1\n}\n');
    await folder.write(
      'south/manifests.yaml',
      [
        'apiVersion: v1',
        'kind: List',
        'items:',
        '- kind: ConfigMap',
        '  metadata: {name: coredns, namespace: kube-system}',
        '  data:',
        '    Corefile: |',
        '      .:53 {',
        '          import custom/*.override',
        '          chaos',
        '          whoami',
        '      }',
        '- kind: ConfigMap',
        '  metadata: {name: coredns-custom, namespace: kube-system}',
        '  data:',
        '    a.override: errors',
        '',
      ].join('\n'),
    );
    const text = await run('survey', folder.path);
    expect(text.code).toBe(1);
    expect(text.output).toContain(
      `${folder.path}/east.Corefile: does not start\n  plugins: nomad, whoami\n  not built: plugin/nomad`,
    );
    expect(text.output).toContain('refused by CoreDNS too: ');
    expect(text.output).toContain("chaos: authors.bind names Portolan's authors.");
    expect(text.output).toContain('1 of 3 Corefiles start; 1 would start only with CoreDNS.\n');
    const { output } = await run('survey', '--output=json', folder.path);
    const survey = JSON.parse(output);
    expect(
      survey.corefiles.map(({ label, starts }: { label: string; starts: boolean }) => [label, starts]),
    ).toEqual([
      [`${folder.path}/east.Corefile`, false],
      [`${folder.path}/south/manifests.yaml: ConfigMap kube-system/coredns`, true],
      [`${folder.path}/west/Corefile`, false],
    ]);
    expect(survey.corefiles[1].plugins).toEqual({ chaos: 1, errors: 1, whoami: 1 });
    expect(survey.plugins).toContainEqual({ name: 'nomad', corefiles: 1, isBuilt: false });
  });

  it('and explain know plugins that the command line loads', async () => {
    const file = await writeFile(
      'Corefile',
      '. {\n    records {\n        www A 192.0.2.1\n    }\n    whoami\n}\n',
    );
    const flag = '--plugin=records=@portolan/records';
    expect((await run('survey', file)).output).toContain(`records  1  add ${flag}`);
    expect((await run('survey', flag, file)).code).toBe(0);
    const { output } = await run('explain', `--conf=${file}`, flag, 'www');
    expect(output).toContain('  records  may answer\n');
    expect((await run('explain', `--conf=${file}`, '--plugin=records', 'www')).code).toBe(1);
  });

  it('refuses folders that are not there, manifests that are not YAML, and unknown forms', async () => {
    expect((await run('survey', '/nonexistent')).errors).toContain('no such file or directory: /nonexistent');
    const file = await writeFile('broken.yaml', 'kind: ConfigMap\n  data: [\n');
    const broken = await run('survey', file);
    expect(broken.code).toBe(1);
    expect(broken.errors).toContain(`portolan corefile survey: cannot read ${file}: `);
    expect((await run('survey', '--output=xml', file)).code).toBe(2);
  });
});

describe('portolan corefile explain', () => {
  const corefile = [
    '.:53 {',
    '    kubernetes cluster.local',
    '    rewrite name exact a.test b.cluster.local',
    '    forward . 192.0.2.1',
    '    cache 30',
    '}',
    'a.example {',
    '    hosts {',
    '        192.0.2.1 x.a.example',
    '        fallthrough',
    '    }',
    '    forward . 192.0.2.2',
    '}',
    '',
  ].join('\n');

  it('names the block, the plugins, and what readers do', async () => {
    const file = await writeFile('Corefile', corefile);
    const explain = async (...words: string[]) => (await run('explain', `--conf=${file}`, ...words)).output;
    expect(await explain('web.default.svc.cluster.local')).toBe(
      [
        'dns://:53: the server block of . treats web.default.svc.cluster.local A',
        '  rewrite     passes on',
        '  cache       stores answers',
        '  kubernetes  may answer',
        '  forward     may answer',
        '  readers answer from the names in the table, repeat answers that the cache holds',
        '',
      ].join('\n'),
    );
    expect(await explain('a.test', 'AAAA')).toContain('  rewrite     may answer\n');
    expect(await explain('a.test', 'AAAA')).not.toContain('ask the servers of forward');
    expect(await explain('www.example.org', 'aaaa')).toContain(
      '  readers repeat answers that the cache holds, ask the servers of forward\n',
    );
    expect(await explain('x.a.example', 'MX')).toContain('the server block of a.example. treats');
  });

  it('says that nobody accepts a name, and refuses what is no question', async () => {
    const file = await writeFile('Corefile', 'a.example {\n    whoami\n}\n');
    expect((await run('explain', `--conf=${file}`, 'b.example')).output).toBe(
      'dns://:53: no server block accepts b.example A: REFUSED\n',
    );
    for (const words of [['a..b'], ['a.b', 'WRONG'], ['--client=x', 'a.b'], []])
      expect((await run('explain', `--conf=${file}`, ...words)).code).toBe(2);
    expect((await run('explain', '--conf=/nonexistent', 'a.b')).code).toBe(1);
  });
});
