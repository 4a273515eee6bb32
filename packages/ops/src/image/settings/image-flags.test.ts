import { describe, expect, it } from 'vitest';
import { type ImageFlags, planFromImageFlags } from './image-flags.ts';

const plan = (flags: ImageFlags, machine = 'x64') => planFromImageFlags(flags, '1.2.3', machine);

describe('the flags of portolan image', () => {
  it('default to the main image for this machine', () => {
    expect(plan({})).toEqual({
      kind: 'good',
      value: {
        target: 'portolan',
        architecture: 'amd64',
        name: 'portolan:1.2.3',
        output: 'portolan-amd64.tar',
      },
    });
  });

  it('name another target, architecture and image', () => {
    const value = plan({
      target: 'coredns',
      arch: 'arm64',
      tag: 'registry.example/dns:4',
      output: 'oci.tar',
    });
    expect(value).toMatchObject({
      value: { target: 'coredns', architecture: 'arm64', name: 'registry.example/dns:4', output: 'oci.tar' },
    });
    expect(plan({ target: 'node-cache' })).toMatchObject({ value: { name: 'portolan-node-cache:1.2.3' } });
  });

  it.each<readonly [ImageFlags, string]>([
    [{ target: 'bind' }, '--target'],
    [{ arch: 's390x' }, '--arch'],
    [{ tag: 'portolan' }, '--tag'],
    [{ tag: 'portolan:latest' }, '--tag'],
    [{ output: '' }, '--output'],
  ])('refuses %j', (flags, where) => {
    expect(plan(flags)).toMatchObject({ kind: 'bad', problems: [{ where }] });
  });

  it('asks for the architecture where the machine has no image', () => {
    expect(plan({}, 'riscv64')).toMatchObject({
      kind: 'bad',
      problems: [{ where: '--arch', value: 'riscv64' }],
    });
    expect(plan({ arch: 'arm64' }, 'riscv64').kind).toBe('good');
  });
});
