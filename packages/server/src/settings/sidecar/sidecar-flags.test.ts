import { parseName } from '@portolan/dns/name.ts';
import { TYPE } from '@portolan/dns/types.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeProblem } from '../values/problem.ts';
import { readSidecarFlags } from './sidecar-flags.ts';
import { podSidecarPlan, type SidecarPlan } from './sidecar-plan.ts';

function plan(...words: readonly string[]): SidecarPlan {
  const reading = readSidecarFlags(words);
  if (reading.kind !== 'good') throw new Error(JSON.stringify(reading));
  return reading.plan;
}

function complaints(...words: readonly string[]): readonly string[] {
  const reading = readSidecarFlags(words);
  return reading.kind === 'bad' ? reading.problems.map(describeProblem) : [];
}

describe('without flags', () => {
  it('is what the original is', () => {
    expect(plan()).toEqual({
      probes: [],
      dnsmasq: { server: { host: '127.0.0.1', port: 53 }, interval: 5_000, delay: 0 },
      http: {
        address: '0.0.0.0',
        port: 10_054,
        waitForPort: false,
        flag: '--prometheus-port',
        path: '/metrics',
        namespace: 'kubedns',
      },
    });
  });
});

describe('the arguments of the kube-dns pod', () => {
  it('are taken as they stand', () => {
    const { probes } = plan(
      '--v=2',
      '--logtostderr',
      '--probe=kubedns,127.0.0.1:10053,kubernetes.default.svc.cluster.local,5,SRV',
      '--probe=dnsmasq,127.0.0.1:53,kubernetes.default.svc.cluster.local,5,A',
    );
    const name = 'kubernetes.default.svc.cluster.local.';
    expect(probes).toEqual([
      {
        label: 'kubedns',
        server: { host: '127.0.0.1', port: 10_053 },
        name,
        type: TYPE.SRV,
        interval: 5_000,
      },
      { label: 'dnsmasq', server: { host: '127.0.0.1', port: 53 }, name, type: TYPE.A, interval: 5_000 },
    ]);
  });

  it('make the plan of one server that is all of the pod', () => {
    const flags = plan(
      '--probe=kubedns,127.0.0.1:5353,kubernetes.default.svc.cluster.local,5,SRV',
      '--probe=dnsmasq,127.0.0.1:5353,kubernetes.default.svc.cluster.local,5,A',
      '--dnsmasq-port=5353',
    );
    // One difference is meant: dnsmasq's counts are first read after a delay, since the server starts at the same time.
    const dnsmasq = { ...flags.dnsmasq, delay: 5_000 };
    expect(podSidecarPlan({ domain: parseName('cluster.local'), dnsPort: 5353 })).toEqual({
      ...flags,
      dnsmasq,
    });
  });

  it('are taken with one dash too, and with underscores', () => {
    expect(plan('-v', '2', '-log_dir=/tmp', '-dnsmasq_port', '5353').dnsmasq.server.port).toBe(5353);
  });

  it('ask for help, and for the version', () => {
    expect(readSidecarFlags(['--help']).kind).toBe('help');
    expect(readSidecarFlags(['--version', '--nonsense']).kind).toBe('version');
  });

  it('choose what is logged', () => {
    expect(readSidecarFlags(['--v=2'])).toMatchObject({ logLevel: 'info' });
    expect(readSidecarFlags(['--v=4'])).toMatchObject({ logLevel: 'debug' });
  });
});

describe('a probe', () => {
  it.each([
    ['x,127.0.0.1,a.test', { host: '127.0.0.1', port: 53 }, TYPE.ANY, 5_000],
    ['x,[::1]:5353,a.test,1,AAAA', { host: '::1', port: 5353 }, TYPE.AAAA, 1_000],
    ['x,[::1],a.test,86400', { host: '::1', port: 53 }, TYPE.ANY, 86_400_000],
    ['x,::1,a.test.,2,ANY', { host: '::1', port: 53 }, TYPE.ANY, 2_000],
    ['x,dns.example:54,a.test', { host: 'dns.example', port: 54 }, TYPE.ANY, 5_000],
    ['x,localhost,a.test', { host: 'localhost', port: 53 }, TYPE.ANY, 5_000],
  ])('%s', (text, server, type, interval) => {
    expect(plan('--probe', text).probes).toEqual([{ label: 'x', server, name: 'a.test.', type, interval }]);
  });

  it.each([
    ['x,127.0.0.1', 'not three to five parts'],
    ['x,127.0.0.1,a.test,5,A,more', 'not three to five parts'],
    ['x-y,127.0.0.1,a.test', 'its label: not a label: "x-y"'],
    [',127.0.0.1,a.test', 'its label: not a label: ""'],
    ['x,127.0.0.1:0,a.test', 'its server: not a server: "127.0.0.1:0"'],
    ['x,127.0.0.1:99999,a.test', 'its server: not a server'],
    ['x,,a.test', 'its server: not a server: ""'],
    ['x,tcp://127.0.0.1,a.test', 'its server: not a server'],
    ['x,127.0.0.1@eth0,a.test', 'its server: not a server'],
    ['x,127.0.0.1,', 'its name: not a domain name: ""'],
    ['x,127.0.0.1,a..test', 'its name: not a domain name: "a..test"'],
    ['x,127.0.0.1,a.test,,A', 'its interval: not a whole number: ""'],
    ['x,127.0.0.1,a.test,5s', 'its interval: not a whole number: "5s"'],
    ['x,127.0.0.1,a.test,0', 'its interval: out of range: "0"'],
    ['x,127.0.0.1,a.test,-5', 'its interval: not a whole number'],
    ['x,127.0.0.1,a.test,5,MX', 'its type: unknown: "MX"'],
    ['x,127.0.0.1,a.test,5,a', 'its type: unknown: "a"'],
    ['x,127.0.0.1,a.test,5,toString', 'its type: unknown: "toString"'],
  ])('is complained of: %s', (text, complaint) => {
    expect(complaints(`--probe=${text}`).join()).toContain(complaint);
  });

  it('has a label of its own, or two metrics would have one name', () => {
    expect(complaints('--probe=x,127.0.0.1,a.test', '--probe=x,127.0.0.2,a.test')).toEqual([
      '--probe, its label: given twice: "x". Give each probe a label of its own.',
    ]);
  });
});

describe('wrong flags', () => {
  it('are all named, with what to do', () => {
    expect(
      complaints(
        '--dnsmasq-addr=no host',
        '--dnsmasq-port=0',
        '--dnsmasq-poll-interval-ms=0',
        '--prometheus-addr=here',
        '--prometheus-port=70000',
        '--prometheus-path=metrics',
        '--prometheus-namespace=9x',
        '--prometheus-adr=x',
        'word',
      ).map((text) => text.split(':')[0]),
    ).toEqual([
      '--prometheus-adr',
      'word',
      '--dnsmasq-addr',
      '--dnsmasq-port',
      '--dnsmasq-poll-interval-ms',
      '--prometheus-path',
      '--prometheus-namespace',
      '--prometheus-addr',
      '--prometheus-port',
    ]);
  });

  it.each(['/healthz', '/healthcheck/x'])('leave the path %s to its own answer', (path) => {
    expect(complaints(`--prometheus-path=${path}`, '--probe=x,127.0.0.1,a.test')).toHaveLength(1);
  });

  it.each(['127.0.0.1:53', '[::1]:53', ''])('name no server: %s', (text) => {
    expect(complaints(`--dnsmasq-addr=${text}`).join()).toContain('--dnsmasq-addr: not an address or a name');
  });

  it('never crash it, whatever they are', () => {
    const word = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string().map((text) => `--probe=${text}`),
      fc.array(fc.string(), { maxLength: 6 }).map((parts) => `--probe=${parts.join()}`),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 5 }), (words) => {
        expect(['help', 'version', 'bad', 'good']).toContain(readSidecarFlags(words).kind);
      }),
    );
  });
});

it('takes servers of all kinds for dnsmasq, and any address to listen on', () => {
  expect(plan('--dnsmasq-addr=::1').dnsmasq.server.host).toBe('::1');
  expect(plan('--dnsmasq-addr=[::1]').dnsmasq.server.host).toBe('::1');
  expect(plan('--dnsmasq-addr=localhost').dnsmasq.server.host).toBe('localhost');
  expect(plan('--prometheus-addr=').http.address).toBeUndefined();
  expect(plan('--prometheus-addr=[::]').http.address).toBe('::');
  expect(plan('--prometheus-namespace=').http.namespace).toBe('');
});
