import { describe, expect, it } from 'vitest';
import { resolveAlias } from './program-aliases.ts';

describe('the name that the program is called by', () => {
  it.each([
    ['/kube-dns', 'kube-dns'],
    ['/coredns', 'coredns'],
    ['/node-cache', 'node-cache'],
    ['/usr/sbin/dnsmasq', 'dnsmasq'],
    ['/dnsmasq-nanny', 'dnsmasq-nanny'],
    ['/sidecar', 'sidecar'],
    ['/exechealthz', 'healthz'],
    ['/kube2sky', 'kube2sky'],
    ['/cluster-proportional-autoscaler', 'autoscaler'],
  ])('%s is the command %s', (entry, command) => {
    expect(resolveAlias(entry, ['--v=2'])).toEqual([command, '--v=2']);
  });

  it.each(['/usr/local/bin/portolan', '/opt/portolan/dist/portolan.js', '/dnsmasq/portolan', ''])(
    '%j leaves the command to the words',
    (entry) => {
      expect(resolveAlias(entry, ['serve'])).toEqual(['serve']);
    },
  );
});
