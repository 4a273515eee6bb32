/**
 * First connections after a look-up, in large numbers: each of them finds its address in the set.
 */
import { expect, it } from 'vitest';
import { describeOnNode } from '../node-cache/namespace.ts';
import { startRole } from '../support/roles.ts';
import { listNames, Machine } from './scene.ts';

const COUNT = 10_000;

describeOnNode('first connections', () => {
  it.each(['node-cache', 'coredns'] as const)('of %s are allowed', async (role) => {
    const machine = await Machine.create();
    const joining = 'portolan {\n nftset closed "/example.com/inet#filter#allowed"\n}';
    const { upstream, node } = machine;
    const { port } = await startRole(role, { upstream, joining }, { through: node.through });
    const outcome = await machine.connect(port, listNames(COUNT, 'example.com'), { width: 32 });
    expect(outcome).toEqual({ allowed: COUNT, refused: 0, failed: 0 });
    expect(await machine.list('allowed')).toHaveLength(COUNT);
  });
});
