import { ROOT } from '@portolan/dns/name.ts';
import { expect, it } from 'vitest';
import type { ProcessPlan } from '../settings/dnsmasq-plan.ts';
import { findIdentity } from './identity.ts';

const FILES: Readonly<Record<string, string>> = {
  '/etc/passwd': 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65533::/:/bin/false\n',
  '/etc/group': 'root:x:0:\nwheel:x:10:root\n',
};
const find = (
  user: string | undefined,
  group: ProcessPlan['group'] = { kind: 'default' },
  more = '',
  nftset: Parameters<typeof findIdentity>[0]['nftset'] = [],
) =>
  findIdentity(
    {
      nftset,
      process: {
        mode: 'foreground',
        pidFile: undefined,
        user,
        group,
        blocksExtra: undefined,
        keepsStatistics: false,
        dashboard: undefined,
        queryLog: undefined,
        history: undefined,
      },
    },
    (path) => `${FILES[path] ?? ''}${path === '/etc/group' ? more : ''}`,
  );

it('is the user with its own group, where there is no better one', () => {
  expect(find('nobody')).toEqual({ user: 65534, group: 65533 });
  expect(find('nobody', { kind: 'default' }, 'dip:x:30:\n')).toEqual({ user: 65534, group: 30 });
});

it('is what was named', () => {
  expect(find('root', { kind: 'named', name: 'wheel' })).toEqual({ user: 0, group: 10 });
  expect(find(undefined, { kind: 'keep' })).toEqual({ user: undefined, group: undefined });
});

it('stays root to fill sets of nftables', () => {
  const rules = [{ domains: [ROOT], sets: [], isClosed: false }];
  expect(find('nobody', { kind: 'default' }, '', rules)).toEqual({ user: undefined, group: undefined });
  expect(() => find('somebody', { kind: 'default' }, '', rules)).toThrow('unknown user or group: somebody');
});

it('must be there', () => {
  expect(() => find('somebody')).toThrow('unknown user or group: somebody');
  expect(() => find('nobody', { kind: 'named', name: 'none' })).toThrow('unknown user or group: none');
});
