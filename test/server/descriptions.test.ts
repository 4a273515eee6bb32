/**
 * Completions, the man page and units of systemd: all flags are in them, and the programs that read them understand them.
 */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/command-list.ts';
import { completionScript } from '../../src/cli/completion.ts';
import { manPage } from '../../src/cli/man-page.ts';
import { runPortolan } from '../support/portolan.ts';
import { describeWithTool, itWithTool } from '../support/tools.ts';

/** What bash offers behind these words. */
function complete(...words: readonly string[]): readonly string[] {
  const script = `${completionScript('bash')}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _portolan; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync('bash', ['-c', script, 'bash', ...words], {
    encoding: 'utf8',
  });
  expect([stderr, status]).toEqual(['', 0]);
  return stdout.split('\n').filter((line) => line !== '');
}

describeWithTool('bash', 'completions of bash', () => {
  it.each<[readonly string[], readonly string[]]>([
    [['portolan', 'serv'], ['serve']],
    [
      ['portolan', 'dnsmasq'],
      ['dnsmasq', 'dnsmasq-nanny'],
    ],
    [['portolan', 'serve', '--dns-p'], ['--dns-port']],
    [
      ['portolan', 'serve', '--dialect', ''],
      ['coredns', 'kube-dns'],
    ],
    [
      ['portolan', 'serve', '--dialect', '='],
      ['coredns', 'kube-dns'],
    ],
    [
      ['portolan', 'serve', '--upstream-policy', '=', 'r'],
      ['random', 'round-robin'],
    ],
    [['portolan', 'kube-dns', '--lame'], ['--lameduck']],
    [['portolan', 'healthz', '-lat'], ['-latency']],
    [['portolan', 'dnsmasq', '--no-hos'], ['--no-hosts']],
    [['portolan', 'serve', '--manifests', 'src/conf'], ['src/config']],
    [['portolan', 'serve', '--ttl', '3'], []],
  ])('%j', (words, expected) => {
    expect(complete(...words)).toEqual(expected);
  });
});

describe('every flag', () => {
  it.each(['bash', 'zsh', 'fish'] as const)('is in the completions of %s', (shell) => {
    const script = completionScript(shell);
    for (const { flags, further, dashes } of COMMANDS)
      for (const { name } of [...flags, ...further]) {
        const form = shell === 'fish' ? `${dashes === '-' ? '-o' : '-l'} ${name}` : `${dashes}${name}`;
        expect(script).toContain(form);
      }
  });

  it('is in the man page', () => {
    const page = manPage('1.2.3');
    for (const { flags, dashes } of COMMANDS)
      for (const { name } of flags)
        expect(page).toContain(`\n.B ${`${dashes}${name}`.replaceAll('-', '\\-')}`);
  });
});

itWithTool(['man', 'groff'], 'groff formats the man page without a warning', () => {
  const { stdout, stderr } = spawnSync('man', ['--warnings', '-l', '-'], {
    input: manPage('1.2.3'),
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C.UTF-8', MANWIDTH: '100' },
  });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^PORTOLAN\(1\)/);
  expect(stdout).toContain('--dns-port <port>\n              UDP and TCP port (default: 53).');
});

async function printUnit(...args: readonly string[]) {
  const program = runPortolan(['systemd', ...args]);
  const { code } = await program.exit;
  return { code, output: program.output, errors: program.errors };
}

describe('a unit of systemd', () => {
  it('runs the command with its flags, as systemd splits them', async () => {
    const { code, output } = await printUnit('serve', '--dns-port', '5353', '--manifests=/a b/100%"$x');
    expect(code).toBe(0);
    const [, line = ''] = /^ExecStart=(.*)$/m.exec(output) ?? [];
    expect(line.slice(line.indexOf(' serve '))).toBe(' serve --dns-port 5353 "--manifests=/a b/100%%\\"$$x"');
    expect(output).toContain('AmbientCapabilities=CAP_NET_BIND_SERVICE');
  });

  it('keeps dnsmasq in the foreground', async () => {
    const { output } = await printUnit('dnsmasq', '-c', '100', '--conf-file=/dev/null');
    expect(output).toMatch(
      /^ExecStart=\S+ \S+ dnsmasq --keep-in-foreground -c 100 --conf-file=\/dev\/null$/m,
    );
    expect(output).toContain('ExecReload=/bin/kill -HUP $MAINPID');
  });

  it.each([
    [
      ['serve', '--dns-prot=53'],
      'portolan systemd serve: --dns-prot: unknown flag. Did you mean --dns-port?\n',
    ],
    [['dnsmasq', '--cache-size=x'], 'portolan systemd dnsmasq: --cache-size: not a whole number: "x".'],
    [['sidecar'], 'portolan: unknown command: "sidecar". Give serve or dnsmasq.\n'],
  ])('is not made of wrong flags: %j', async (args, message) => {
    const { code, output, errors } = await printUnit(...args);
    expect(errors).toContain(message);
    expect([code, output]).toEqual([2, '']);
  });
});
