/**
 * Arguments of kube-dns manifests over the years: with our image instead of the old one, they are still accepted.
 *
 * The program name is the entrypoint of the old image, which our image also has.
 */
import { resolveAlias } from '@portolan/cli/program-aliases.ts';
import { createProcessSources } from '@portolan/cli/servers/dnsmasq-sources.ts';
import { readDnsmasqOptions } from '@portolan/frontends/dnsmasq/settings/read-configuration.ts';
import { readKubeDnsFlags } from '@portolan/frontends/kube-dns/settings/kube-dns-flags.ts';
import { readNannyFlags } from '@portolan/frontends/kube-dns/settings/nanny-flags.ts';
import { readHealthzFlags } from '@portolan/ops/healthz/settings/healthz-flags.ts';
import { readSidecarFlags } from '@portolan/server/settings/sidecar/sidecar-flags.ts';
import { describe, expect, it } from 'vitest';

const ZONES = ['--server=/cluster.local/127.0.0.1#10053', '--server=/in-addr.arpa/127.0.0.1#10053'];
const NANNY = ['-v=2', '-configDir=/etc/k8s/dns/dnsmasq-nanny', '-restartDnsmasq=true'];
const LOOKUP = 'nslookup kubernetes.default.svc.cluster.local 127.0.0.1';

const CASES: readonly (readonly [release: string, entry: string, args: readonly string[]])[] = [
  ['1.3', '/kube-dns', ['--domain=cluster.local.', '--dns-port=10053']],
  ['1.3', '/usr/sbin/dnsmasq', ['--cache-size=1000', '--no-resolv', '--server=127.0.0.1#10053']],
  [
    '1.3',
    '/exechealthz',
    [`-cmd=${LOOKUP} >/dev/null && ${LOOKUP}:10053 >/dev/null`, '-port=8080', '-quiet'],
  ],
  ['1.5', '/kube-dns', ['--domain=cluster.local.', '--dns-port=10053', '--config-map=kube-dns', '--v=2']],
  [
    '1.5',
    '/exechealthz',
    [
      `--cmd=${LOOKUP} >/dev/null`,
      '--url=/healthz-dnsmasq',
      `--cmd=${LOOKUP}:10053 >/dev/null`,
      '--url=/healthz-kubedns',
      '--port=8080',
      '--quiet',
    ],
  ],
  [
    '1.5',
    '/kube-dns',
    ['--domain=cluster.local.', '--dns-port=10053', '--federations=fed=example.com', '--v=0'],
  ],
  [
    '1.6',
    '/dnsmasq-nanny',
    [...NANNY, '-logtostderr', '--', '-k', '--cache-size=1000', '--log-facility=-', ...ZONES],
  ],
  [
    '1.6',
    '/sidecar',
    [
      '--v=2',
      '--logtostderr',
      '--probe=kubedns,127.0.0.1:10053,kubernetes.default.svc.cluster.local,5,A',
      '--probe=dnsmasq,127.0.0.1:53,kubernetes.default.svc.cluster.local,5,A',
    ],
  ],
  [
    '1.33',
    '/dnsmasq-nanny',
    [
      ...NANNY,
      '--',
      '-k',
      '--cache-size=1000',
      '--no-negcache',
      '--dns-loop-detect',
      '--log-facility=-',
      ...ZONES,
      '--server=/ip6.arpa/127.0.0.1#10053',
    ],
  ],
  [
    '1.33',
    '/sidecar',
    [
      '--v=2',
      '--probe=kubedns,127.0.0.1:10053,kubernetes.default.svc.cluster.local,5,SRV',
      '--probe=dnsmasq,127.0.0.1:53,kubernetes.default.svc.cluster.local,5,SRV',
    ],
  ],
];

/** @returns what the command complains of */
function findComplaints(command: string, words: readonly string[]): unknown {
  switch (command) {
    case 'kube-dns': {
      const reading = readKubeDnsFlags(words, {});
      return reading.kind === 'flags' ? reading.problems : reading.kind;
    }
    case 'dnsmasq':
      return dnsmasqComplaints(words);
    case 'dnsmasq-nanny': {
      const reading = readNannyFlags(words);
      return reading.kind === 'good' ? dnsmasqComplaints(reading.plan.dnsmasqWords) : reading;
    }
    case 'sidecar': {
      const reading = readSidecarFlags(words);
      return reading.kind === 'good' ? [] : reading;
    }
    case 'healthz': {
      const reading = readHealthzFlags(words);
      return reading.kind === 'good' ? [] : reading;
    }
    default:
      return `no command: ${command}`;
  }
}

function dnsmasqComplaints(words: readonly string[]): unknown {
  const reading = readDnsmasqOptions(words, createProcessSources());
  return reading.kind === 'good' ? [] : reading;
}

describe('arguments from the manifests of Kubernetes', () => {
  it.each(CASES)('%s, for %s: %j', (_release, entry, args) => {
    const [command = '', ...words] = resolveAlias(entry, args);
    expect(findComplaints(command, words)).toEqual([]);
  });

  it('would be complained of if they were others', () => {
    expect(findComplaints('kube-dns', ['--dns-prot=1'])).not.toEqual([]);
    expect(findComplaints('dnsmasq', ['--cache-sise=1'])).not.toEqual([]);
    expect(findComplaints('dnsmasq-nanny', ['-configDri=/x'])).not.toEqual([]);
    expect(findComplaints('dnsmasq-nanny', ['--', '--cache-sise=1'])).not.toEqual([]);
    expect(findComplaints('sidecar', ['--probe=x'])).not.toEqual([]);
    expect(findComplaints('healthz', ['-prot=1'])).not.toEqual([]);
  });
});
