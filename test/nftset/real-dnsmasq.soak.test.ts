/**
 * The real dnsmasq and ours fill sets from the same options and questions, side by side.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { expect, onTestFinished } from 'vitest';
import { describeOnNode } from '../node-cache/namespace.ts';
import { runPortolan } from '../support/portolan.ts';
import { itWithTool } from '../support/tools.ts';
import { listNames, Machine } from './scene.ts';

const SIDES = ['real', 'ours'] as const;

const SETS = SIDES.map(
  (side) => `
  set ${side} { type ipv4_addr; }
  set ${side}-deep { type ipv4_addr; }
  set ${side}-six { type ipv6_addr; }
  set ${side}-interval { type ipv4_addr; flags interval; }`,
).join('');

/** `SIDE` in it becomes the side. */
const OPTIONS = [
  '/example.com/.example.org/4#inet#filter#SIDE,6#inet#filter#SIDE-six',
  '/deep.example.com/inet#filter#SIDE-deep',
  '/interval.example.net/inet#filter#SIDE-interval',
];

const NAMES = [
  ...listNames(20, 'example.com'),
  ...listNames(30, 'www.EXAMPLE.org'),
  'a-9-9.badexample.com',
  'a-8-8.deep.example.com',
  'a-8-9.a.b.deep.example.com',
  'alias-7-7.example.com',
  'a-6-6.interval.example.net',
  'a-6-7.interval.example.net',
  'a-5-5.example.net',
];

async function run(side: (typeof SIDES)[number], { node, upstream }: Machine): Promise<number> {
  const port = await findFreePort();
  const words = [
    ...[
      '-k',
      '--log-facility=-',
      '--pid-file=',
      '--user=',
      '--group=',
      '-C',
      '/dev/null',
      '--no-hosts',
      '--no-resolv',
    ],
    ...[
      '--listen-address=127.0.0.1',
      '--bind-interfaces',
      `--port=${port}`,
      `--server=127.0.0.1#${upstream}`,
    ],
    ...OPTIONS.map((option) => `--nftset=${option.replaceAll('SIDE', side)}`),
  ];
  if (side === 'ours') {
    const program = runPortolan(['dnsmasq', ...words], { through: node.through });
    await waitUntil('ours', () => program.errors.includes('started') || program.ended !== undefined);
    return port;
  }
  const [command = '', ...rest] = [...node.through, 'dnsmasq', ...words];
  const child = spawn(command, rest, { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await waitUntil('dnsmasq', () => said.includes('started, version') || child.exitCode !== null);
  return port;
}

describeOnNode('dnsmasq', () => {
  itWithTool('dnsmasq', 'and ours put the same addresses into the same sets', async () => {
    const machine = await Machine.create();
    await machine.nft(`table inet filter {${SETS}\n}`);
    for (const side of SIDES) {
      const port = await run(side, machine);
      for (const family of [4, 6] as const) await machine.connect(port, NAMES, { family });
    }
    for (const set of ['', '-deep', '-six', '-interval']) {
      const [real, ours] = await Promise.all(SIDES.map((side) => machine.list(`${side}${set}`)));
      expect(ours).toEqual(real);
      expect(real).not.toEqual([]);
    }
  });
});
