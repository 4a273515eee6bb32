import { describe, expect, it } from 'vitest';
import { planFromManifestsFlags } from './manifests-flags.ts';

const DIGEST = `sha256:${'0'.repeat(64)}`;

describe('the flags of portolan manifests', () => {
  it('have the defaults of kubeadm; an empty image is the one of this version', () => {
    expect(planFromManifestsFlags({ image: '' }, '1.2.3')).toEqual({
      kind: 'good',
      value: {
        dnsServer: '10.96.0.10',
        domain: 'cluster.local',
        image: 'portolan:1.2.3',
        layout: 'one',
        scaled: 'kube-dns',
        withConfigMap: false,
      },
    });
  });

  it('need an image', () => {
    const fault = { where: '--image', fault: 'not given' };
    expect(planFromManifestsFlags({}, '1')).toMatchObject({ kind: 'bad', problems: [fault] });
  });

  it.each([
    ['an IPv6 address in its shortest form', { dnsServerIp: 'FD00:0::A' }, { dnsServer: 'fd00::a' }],
    ['a domain with a dot at its end, in capitals', { domain: 'K8s.Example.' }, { domain: 'k8s.example' }],
    ['a domain of one label', { domain: 'cluster' }, { domain: 'cluster' }],
    [
      'a registry with a port',
      { image: 'registry.example:5000/a/b:1' },
      { image: 'registry.example:5000/a/b:1' },
    ],
    ['a digest', { image: `portolan@${DIGEST}` }, { image: `portolan@${DIGEST}` }],
    ['a tag and a digest', { image: `portolan:latest@${DIGEST}` }, { image: `portolan:latest@${DIGEST}` }],
    ['three containers', { layout: 'three' }, { layout: 'three' }],
    ['a number of pods', { layout: 'coredns', replicas: '3' }, { replicas: 3 }],
    ['the ConfigMap', { withConfigMap: true }, { withConfigMap: true }],
  ])('take %s', (_what, flags, value) => {
    const given = { image: 'portolan:1.0.0', ...flags };
    expect(planFromManifestsFlags(given, '1.2.3')).toMatchObject({ kind: 'good', value });
  });

  it.each([
    ['--dns-server-ip', 'not an IP address', { dnsServerIp: '10.96.0' }],
    ['--dns-server-ip', 'not an IP address', { dnsServerIp: '' }],
    ['--domain', 'not the domain of a cluster', { domain: '' }],
    ['--domain', 'not the domain of a cluster', { domain: '.' }],
    ['--domain', 'not the domain of a cluster', { domain: 'a/b' }],
    ['--domain', 'not the domain of a cluster', { domain: 'a,b' }],
    ['--domain', 'not the domain of a cluster', { domain: '-a.b' }],
    ['--domain', 'not the domain of a cluster', { domain: `${'a.'.repeat(60)}aa` }],
    ['--image', 'an image without a version', { image: 'portolan' }],
    ['--image', 'an image without a version', { image: 'registry.example:5000/portolan' }],
    ['--image', 'an image without a version', { image: 'portolan:latest' }],
    ['--image', 'not the name of an image', { image: 'portolan: 1' }],
    ['--layout', 'unknown', { layout: '3' }],
    ['--like', 'not for --layout=skydns', { layout: 'skydns', like: 'coredns' }],
    ['--like', 'not for --layout=three', { layout: 'three', like: 'coredns' }],
    ['--replicas', 'out of range', { replicas: '0' }],
    ['--replicas', 'not a whole number', { replicas: 'many' }],
    ['--replicas', 'not for --layout=node-local', { layout: 'node-local', replicas: '2' }],
  ])('refuse a %s that is %s: %j', (where, fault, flags) => {
    expect(planFromManifestsFlags({ image: 'portolan:1.0.0', ...flags }, '1.2.3')).toMatchObject({
      kind: 'bad',
      problems: [{ where, fault }],
    });
  });

  it('tell all problems together', () => {
    const checked = planFromManifestsFlags({ dnsServerIp: 'x', domain: '/', image: ':', layout: 'x' }, '1');
    expect(checked.kind === 'bad' && checked.problems.map(({ where }) => where)).toEqual([
      '--dns-server-ip',
      '--domain',
      '--image',
      '--layout',
    ]);
  });
});
