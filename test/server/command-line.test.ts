/**
 * The output of the program for a wrong command, and about itself.
 */

import { readFileSync } from 'node:fs';
import { SERVE_FLAGS } from '@portolan/frontends/serve/settings/serve-flags.ts';
import { formatFlagRow } from '@portolan/server/settings/flags/flag-text.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

async function run(...args: readonly string[]): Promise<Program> {
  const program = runPortolan(args);
  await program.exit;
  return program;
}

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

describe('the program', () => {
  it('says which build it is', async () => {
    const { output, ended } = await run('version');
    expect(output).toContain(`portolan ${version} (Node ${process.version}`);
    expect(ended?.code).toBe(0);
  });

  it('says which commands there are', async () => {
    const { output, ended } = await run('--help');
    expect(output).toMatch(/serve .*serve the zone/);
    expect(output).toMatch(/version .*print the version/);
    expect(ended?.code).toBe(0);
  });

  it.each(['serve', 'manifests', 'version', 'kube-dns', 'dnsmasq-nanny', 'sidecar', 'healthz'])(
    'prints the help of %s with -h',
    async (command) => {
      const { output, ended } = await run(command, '-h');
      expect(output).toMatch(/^Usage: portolan/);
      expect(ended?.code).toBe(0);
    },
  );

  it('prints the help of a command that help names', async () => {
    const [byWord, byFlag] = await Promise.all([
      run('help', 'corefile', 'check'),
      run('corefile', 'check', '--help'),
    ]);
    expect(byWord.output).toBe(byFlag.output);
    expect(byWord.output).toMatch(/^Usage: portolan corefile check /);
  });

  it('names the command that a wrong one was meant to be', async () => {
    const { errors, ended } = await run('sevre');
    expect(errors).toContain('Did you mean serve?');
    expect(ended?.code).toBe(2);
  });

  it('shows every flag of serve with its default', async () => {
    const { output, ended } = await run('serve', '--help');
    const flags = [...output.matchAll(/^ {2}--([a-z-]+)/gm)].map((match) => match[1]);
    expect(flags).toEqual(SERVE_FLAGS.map(({ name }) => name));
    const words = output.replaceAll(/\s+/g, ' ');
    for (const flag of SERVE_FLAGS) expect(words).toContain(formatFlagRow(flag)[1]);
    expect(ended?.code).toBe(0);
  });
});

describe('serve refuses', () => {
  it('unknown flags and wrong values, all together, with the nearest known flag', async () => {
    const { errors, ended } = await run(
      'serve',
      '--manifest=x',
      '--ttl',
      '9999',
      '--pods=some',
      '--quux',
      'x',
      '--takeover=yes',
      'now',
    );
    expect(errors).toBe(`portolan serve: 6 problems with the flags
  --manifest: unknown flag. Did you mean --manifests?
  --quux: unknown flag. See 'portolan serve --help' for all flags.
  --takeover: neither true nor false: "yes". Give one of the two.
  now: unexpected argument. Give flags only.
  --pods: unknown: "some". Give disabled, insecure or verified.
  --ttl: out of range: "9999". Give a number of seconds from 0 to 3600.
`);
    expect(ended?.code).toBe(2);
  });

  it.each([
    ['serv', 'portolan: serv: unknown command. Did you mean serve?\n'],
    ['corefile chek', 'portolan corefile: chek: unknown command. Did you mean check?\n'],
    ['explain --kubeconfg=x', 'portolan explain: --kubeconfg: unknown flag. Did you mean --kubeconfig?\n'],
    [
      'tail --reason=nosuch-service',
      'portolan tail: reason: unknown: "nosuch-service". Give no-such-service.\n',
    ],
    ['quux', "portolan: quux: unknown command. See 'portolan --help' for all commands.\n"],
  ])('the unknown command %s, with the nearest one', async (command, said) => {
    const { errors, ended } = await run(...command.split(' '));
    expect(errors).toBe(said);
    expect(ended?.code).toBe(2);
  });

  it('a flag without its value', async () => {
    const { errors, ended } = await run('serve', '--ttl');
    expect(errors).toContain('--ttl: its value is missing. Give one, as in --ttl=VALUE.');
    expect(ended?.code).toBe(2);
  });

  it('to serve made-up names where there is no cluster, and says where it looked', async () => {
    const { errors, ended } = await run('serve', '--log-format=text', '--healthz-port=127.0.0.1:0');
    expect(errors).toMatch(/^portolan serve: no cluster found, looked for:\n/);
    expect(errors).toMatch(/KUBERNETES_SERVICE_HOST/);
    expect(errors).toMatch(/KUBECONFIG: not set/);
    expect(errors).toMatch(/~\/\.kube\/config: no such file: \/nonexistent\/\.kube\/config/);
    expect(errors).toMatch(/--kubecfg-file.*--manifests or --example/);
    expect(ended?.code).toBe(1);
  });

  it('a domain that leaves no room for services', async () => {
    const { errors, ended } = await run(
      'serve',
      '--example',
      '--log-format=text',
      '--domain',
      `${'a.'.repeat(70)}local`,
    );
    expect(errors).toMatch(/^portolan serve: cluster domain too long: a\.a\..*; at most 120 characters\n$/);
    expect(ended?.code).toBe(1);
  });

  it('a folder that is not there, on one line for collectors', async () => {
    const flags = [
      '--manifests',
      '/nonexistent/manifests',
      '--log-format',
      'json',
      '--healthz-port=127.0.0.1:0',
    ];
    const program = await run('serve', ...flags, '--dns-bind-address=127.0.0.1', '--dns-port=5391');
    expect(program.log.find(({ level }) => level === 'error')).toMatchObject({
      message: 'cannot serve',
      reason: expect.stringMatching(/^cannot read folder: \/nonexistent\/manifests: ENOENT\. /),
    });
    expect(program.ended?.code).toBe(1);
  });
});
