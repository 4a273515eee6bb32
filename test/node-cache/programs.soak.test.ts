/**
 * `portolan node-cache` with programs that warn, fail, hang or are missing: it judges them by what they do, and says what is missing.
 */

import { chmod, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { NOISE, REAL_PROGRAM } from '@portolan/kernel/base/testing/path-programs.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Program } from '@portolan/testing/program.ts';
import { expect, it } from 'vitest';
import { formatSocketName } from '../support/control.ts';
import { runPortolan } from '../support/portolan.ts';
import { itWithTool } from '../support/tools.ts';
import { ALL_ANSWERED, askFromPod } from './hardening.ts';
import { describeOnNode } from './namespace.ts';
import { LINK_LOCAL, SERVICE, TEMPLATE, useScene } from './scene.ts';

const scene = useScene();

const LOCAL = `${LINK_LOCAL},${SERVICE}`;
const METRICS = 'http://127.0.0.1:36353/metrics';
const HEALTH = `http://${LINK_LOCAL}:36080/health`;
const WITH_HEALTH = TEMPLATE.replace('whoami', 'whoami\n    health __PILLAR__LOCAL__DNS__:36080');
const SYSTEM = [process.env['PATH'] ?? '', '/usr/sbin', '/sbin'].join(delimiter);
const OF_IPTABLES = ['iptables', 'ip6tables'].flatMap((name) =>
  ['', '-save', '-restore', '-nft', '-nft-save', '-nft-restore', '-legacy', '-legacy-save'].map(
    (part) => `${name}${part}`,
  ),
);

/** @param scripts by the name of the program @returns a PATH with them at its front */
async function pathWith(scripts: Readonly<Record<string, string>>): Promise<string> {
  const { folder } = scene();
  for (const [name, script] of Object.entries(scripts))
    await chmod(await folder.write(`programs/${name}`, `#!/bin/sh\n${script}`), 0o755);
  return [join(folder.path, 'programs'), SYSTEM].join(delimiter);
}

/** @returns a PATH with these programs of the system alone */
async function makePath(...names: readonly string[]): Promise<string> {
  const { folder, node } = scene();
  await folder.write('few/about', '');
  for (const name of names) {
    const found = (await node.run('sh', '-c', `PATH="$1" command -v "$2"`, 'sh', SYSTEM, name)).trim();
    await symlink(found, join(folder.path, 'few', name));
  }
  return join(folder.path, 'few');
}

/** Waits until every place says that rules are missing, with the reason. */
async function expectMissing(running: Program, reason: string): Promise<void> {
  const { fetch, node } = scene();
  await waitUntil('the health check', async () =>
    (await fetch(HEALTH).catch(() => '')).startsWith(`OK\npacket filter rules not set: ${reason}`),
  );
  expect(await fetch(METRICS)).toMatch(/^portolan_nodecache_rules_missing 1$/m);
  await waitUntil('the finding', async () => {
    const socket = `--socket=${formatSocketName(running, 'node-cache')}`;
    const doctor = runPortolan(['doctor', socket, '--watch=1ms'], { through: node.through });
    await doctor.exit;
    return doctor.output.includes('node-rules-missing') && doctor.output.includes(reason);
  });
  expect(running.output).toMatch(/\[ERROR\].* (?:rules not set|no packet filter: rules not set) /);
  expect(await scene().ask(LINK_LOCAL)).toBe('answered');
}

describeOnNode('programs of the system', () => {
  itWithTool('dig', 'set all that is needed although each writes warnings', async () => {
    const { node, run, folder, fetch } = scene();
    await folder.write('Corefile.base', WITH_HEALTH);
    const noisy = ['nft', 'ip', ...OF_IPTABLES].map((name) => [name, `${NOISE}${REAL_PROGRAM}`]);
    const environment = { PATH: await pathWith(Object.fromEntries(noisy)) };
    const pod = await node.addPod();
    const running = run(LOCAL, [], { environment });
    await waitUntil('the rules', async () => running.output.includes('probes on the way of pods'));
    expect(await node.nftables()).toHaveLength(1);
    expect(await askFromPod(scene(), pod)).toEqual(ALL_ANSWERED);
    expect(running.output).not.toContain('[ERROR]');
    expect(await fetch(METRICS)).toMatch(/^portolan_nodecache_rules_missing 0$/m);
    expect(await fetch(HEALTH)).toBe('OK');
    running.signal('SIGTERM');
    expect(await running.exit).toEqual({ code: 0, signal: null });
    expect(await node.nftables()).toEqual([]);
    const ofIptables = run(LOCAL, ['--rules=iptables'], { environment });
    await waitUntil('all rules', async () => (await node.iptables()).length === 24);
    ofIptables.signal('SIGTERM');
    expect(await ofIptables.exit).toEqual({ code: 0, signal: null });
    expect(await node.iptables()).toEqual([]);
  });

  it.each([
    ['fails', `case $1 in -i) ${NOISE.trim()}; exit 3 ;; esac`, 'nft -i: ended with exit status 3: '],
    ['hangs', `case $1 in -i) ${NOISE.trim()}; sleep 600 ;; esac`, 'nft -i: no answer within 5 s: '],
  ])('that set no rules are told of: nft %s', async (_how, script, reason) => {
    const { run, folder } = scene();
    await folder.write('Corefile.base', WITH_HEALTH);
    const environment = { PATH: await pathWith({ nft: `${script}\n${REAL_PROGRAM}` }) };
    await expectMissing(run(LOCAL, [], { environment }), reason);
  });

  it('that are missing are told of', async () => {
    const { run, folder } = scene();
    await folder.write('Corefile.base', WITH_HEALTH);
    const environment = { PATH: await makePath('nsenter', 'ip', 'sh') };
    await expectMissing(run(LOCAL, [], { environment }), 'no packet filter: iptables: not installed');
  });

  it('are not told of where no rules are wanted', async () => {
    const { run, folder, fetch } = scene();
    await folder.write('Corefile.base', WITH_HEALTH);
    const running = run(LOCAL, ['--rules=none']);
    await waitUntil('the start', async () => running.output.includes('CoreDNS-'));
    expect(await fetch(HEALTH)).toBe('OK');
    expect(await fetch(METRICS)).not.toContain('portolan_nodecache_rules_missing');
  });
});
