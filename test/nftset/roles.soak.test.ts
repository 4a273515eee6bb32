/**
 * In each role, a client that connects as soon as it has an answer finds the address in the set that its policy allows.
 */
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { describe, expect, it } from 'vitest';
import { describeOnNode } from '../node-cache/namespace.ts';
import { type Role, startRole, type World } from '../support/roles.ts';
import { type Looking, listNames, Machine } from './scene.ts';

const ROLES = [
  'serve',
  'kube-dns',
  'coredns',
  'node-cache',
  'dnsmasq',
  'dnsmasq-nanny',
] as const satisfies readonly Role[];
const COUNT = 300;
const VALUE = '/example.com/4#inet#filter#allowed,6#inet#filter#allowed6,4#inet#filter#permanent';

/** A role with the sets, on the machine. */
async function start(role: Role, { node, upstream }: Machine, value = VALUE, isClosed = false) {
  const hasCorefile = role === 'coredns' || role === 'node-cache';
  const joining = `portolan {\n nftset ${isClosed ? 'closed ' : ''}"${value}"\n}`;
  const world: World = { upstream, ...(hasCorefile && { joining }) };
  const flags = hasCorefile ? [] : [`--nftset=${value}`, ...(isClosed ? ['--nftset-closed'] : [])];
  return await startRole(role, world, { through: node.through, flags });
}

describeOnNode('sets of nftables', () => {
  describe.each(ROLES)('%s', (role) => {
    it('has the addresses of both families before a client connects', async () => {
      const machine = await Machine.create();
      // Closed: a busy machine may take longer than an answer waits, and then clients ask again.
      const { port } = await start(role, machine, VALUE, true);
      const names = listNames(COUNT, 'www.example.com');
      for (const family of [4, 6] as const) {
        const looking: Looking = { family };
        const outcome = await machine.connect(port, names, looking);
        expect(outcome).toEqual({ allowed: COUNT, refused: 0, failed: 0 });
        // From the cache.
        expect(await machine.connect(port, names.slice(0, 10), looking)).toEqual({
          allowed: 10,
          refused: 0,
          failed: 0,
        });
        // The policy refuses all other names.
        const others = await machine.connect(
          port,
          ['a-200-1.example.org', 'a-200-2.badexample.com'],
          looking,
        );
        expect(others).toEqual({ allowed: 0, refused: 2, failed: 0 });
      }
      expect(await machine.connect(port, ['alias-1-2.example.com'])).toEqual({
        allowed: 1,
        refused: 0,
        failed: 0,
      });
      expect(await machine.list('allowed')).toEqual(await machine.list('permanent'));
      expect(await machine.list('allowed')).toContain('198.19.1.2');
    });

    it('finds a set that comes later, and one that was made again', async () => {
      const machine = await Machine.create();
      await machine.nft('delete table inet filter');
      const { program, port } = await start(role, machine, '/example.com/inet#filter#later');
      const names = listNames(5, 'example.com');
      const countLines = () =>
        `${program.errors}${program.output}`.split('nft add set inet filter later').length - 1;
      for (const rounds of [1, 2]) {
        await expect
          .poll(async () => {
            expect((await machine.connect(port, names)).failed).toBe(0);
            return countLines();
          })
          .toBe(rounds);
        await machine.nft('table inet filter { set later { type ipv4_addr; flags timeout; }; }');
        await expect
          .poll(async () => {
            await machine.connect(port, names);
            return await machine.list('later');
          })
          .toHaveLength(names.length);
        await machine.nft('delete table inet filter');
      }
    });

    it('gives a client no answer while a closed set is missing', async () => {
      const machine = await Machine.create();
      const { port } = await start(role, machine, '/example.com/inet#filter#later', true);
      const names = listNames(5, 'example.com');
      expect(await machine.connect(port, names)).toEqual({ allowed: 0, refused: 0, failed: 5 });
      expect((await machine.connect(port, ['a-1-1.example.org'])).failed).toBe(0);
      await machine.nft('add set inet filter later { type ipv4_addr; flags timeout; }');
      await expect.poll(async () => (await machine.connect(port, names)).failed).toBe(0);
      expect(await machine.list('later')).toHaveLength(5);
    });
  });

  it('stay empty without the right to change them, and clients get answers', async () => {
    const machine = await Machine.create();
    const { node, upstream } = machine;
    const flags = [`--nftset=${VALUE}`];
    const through = [...node.through, 'setpriv', '--bounding-set=-net_admin', '--inh-caps=-net_admin'];
    const { program, port } = await startRole('serve', { upstream }, { through, flags });
    expect((await machine.connect(port, listNames(5, 'example.com'))).failed).toBe(0);
    expect(await machine.list('allowed')).toEqual([]);
    await waitUntil('a line of the log', () =>
      program.errors.includes('Run the server with the capability NET_ADMIN'),
    );
  });
});
