/**
 * Completions, the man page and systemd units: they have all flags, and the programs that read them accept them.
 */
import { spawnSync } from 'node:child_process';
import { COMMANDS } from '@portolan/cli/command-table.ts';
import { completionScript, SHELLS, type Shell } from '@portolan/cli/tools/completion.ts';
import { describeCommands } from '@portolan/cli/tools/described-command.ts';
import { manPage } from '@portolan/cli/tools/man-page.ts';
import { describe, expect, it } from 'vitest';
import { runPortolan } from '../support/portolan.ts';
import { describeWithTool, itWithTool } from '../support/tools.ts';

const commands = await describeCommands(COMMANDS);
const makeScript = (shell: Shell) => completionScript(shell, commands);
const page = manPage('1.2.3', commands);

/** What bash offers behind these words. */
function complete(...words: readonly string[]): readonly string[] {
  const script = `${makeScript('bash')}
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
    [['portolan', 'serve', '--manifests', 'packages/kern'], ['packages/kernel']],
    [['portolan', 'serve', '--ttl', '3'], []],
    [
      ['portolan', 'co'],
      ['coredns', 'control', 'corefile', 'compare', 'completion'],
    ],
    [['portolan', 'coredns', '-pid'], ['-pidfile']],
    [
      ['portolan', 'coredns', '-compat', ''],
      ['1.13', '1.14'],
    ],
    [['portolan', 'corefile', 'ch'], ['check']],
    [
      ['portolan', 'control', 'l'],
      ['lookup', 'log-level'],
    ],
    [['portolan', 'completion', 'z'], ['zsh']],
    [['portolan', 'completion', 'zsh', 'z'], []],
  ])('%j', (words, expected) => {
    expect(complete(...words)).toEqual(expected);
  });
});

/** The flags that begin a line of a help, with their dashes. */
function flagsIn(help: string): readonly string[] {
  return [...help.matchAll(/^ *(?:-\w, +)?(--?[a-z][\w.-]*)/gm)].flatMap(([, flag = '']) => flag);
}

/** @param flag with its dashes */
function isCompleted(shell: Shell, command: string, flag: string): boolean {
  const script = makeScript(shell);
  switch (shell) {
    case 'bash': {
      const [, words = ''] = new RegExp(`^    ${command}\\) COMPREPLY=.*?'(.*)' -- `, 'm').exec(script) ?? [];
      return words.split(' ').includes(flag);
    }
    case 'zsh': {
      const [, section = ''] = new RegExp(`^    ${command}\\)\\n([^]*?);;`, 'm').exec(script) ?? [];
      return [...section.matchAll(/^ +'(?:\*|\(- \*\))?(--?[\w.-]+?)(?:=-?)?\[/gm)].some(
        (match) => match[1] === flag,
      );
    }
    case 'fish': {
      const form = flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-o ${flag.slice(1)}`;
      return script.includes(`from ${command}' ${form} `) || script.includes(`from ${command}' ${form}\n`);
    }
  }
}

/** What the man page has of a command. */
function findSection(command: string): string {
  const [, section = ''] =
    new RegExp(`^\\.SH "FLAGS OF ${command.toUpperCase()}"\\n([^]*?)\\n\\.SH `, 'm').exec(page) ?? [];
  return section.replaceAll('\\-', '-');
}

describe('the help of the program', () => {
  it('lists the commands that completions and the man page have', async () => {
    const program = runPortolan(['--help']);
    await program.exit;
    const [listed = ''] = program.output.split('\nFlags:\n');
    const names = [...listed.matchAll(/^ {2}([a-z][\w-]*)/gm)].map((match) => match[1]);
    expect(names).toContain('coredns');
    expect(names).toEqual(COMMANDS.map(({ name }) => name));
    expect(complete('portolan', '')).toEqual(names);
    const section = page.slice(page.indexOf('.SH COMMANDS'), page.indexOf('.SH "FLAGS OF'));
    expect([...section.matchAll(/^\.B (.*)$/gm)].map((match) => match[1]?.replaceAll('\\-', '-'))).toEqual(
      names,
    );
    for (const name of names) {
      expect(makeScript('zsh')).toMatch(new RegExp(`^    '${name}:`, 'm'));
      expect(makeScript('fish')).toContain(`-n __fish_use_subcommand -f -a ${name} -d `);
    }
  });
});

const HELPS = commands.flatMap(({ name, subcommands = [] }) => [
  name,
  ...subcommands.map((subcommand) => `${name} ${subcommand.name}`),
]);

describe('every flag', () => {
  it.each(HELPS)('in the help of %s is in completions and the man page', async (words) => {
    const [name = ''] = words.split(' ');
    const { further } = commands.find((each) => each.name === name) ?? {};
    const program = runPortolan([...words.split(' '), '--help']);
    expect((await program.exit).code).toBe(0);
    const flags = flagsIn(program.output + program.errors);
    expect(flags.length).toBeGreaterThan(0);
    for (const flag of flags.filter((each) => !/^--?help$/.test(each))) {
      for (const shell of SHELLS)
        expect([shell, flag, isCompleted(shell, name, flag)]).toEqual([shell, flag, true]);
      // Those of another command are described there.
      if (further?.flags.some((each) => `--${each.name}` === flag) === true) continue;
      expect(findSection(name)).toMatch(new RegExp(`^\\.B ${flag}(?![\\w-])`, 'm'));
    }
  });

  it.each(SHELLS)('that a command takes is in the completions of %s', (shell) => {
    for (const { name: command, flags, further, dashes } of commands)
      for (const { name } of [...flags, ...(further?.flags ?? [])])
        expect([command, name, isCompleted(shell, command, `${dashes}${name}`)]).toEqual([
          command,
          name,
          true,
        ]);
  });
});

itWithTool(['man', 'groff'], 'groff formats the man page without a warning', () => {
  const { stdout, stderr } = spawnSync('man', ['--warnings', '-l', '-'], {
    input: page,
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
