import { ALL_RESTORED } from '@portolan/kernel/deviations/table.ts';
import { describe, expect, it } from 'vitest';
import { readCoreDnsFlags } from './coredns-flags.ts';

const read = (line: string) => readCoreDnsFlags(line === '' ? [] : line.split(' '));
const run = {
  kind: 'run',
  conf: undefined,
  blocksExtra: undefined,
  port: '53',
  pidFile: undefined,
  isQuiet: false,
  compat: { profile: '1.14', restored: new Set() },
  metricsCompat: undefined,
  plugins: [],
  autoscaler: undefined,
};

describe('readCoreDnsFlags', () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ['', run],
    ['-conf /etc/coredns/Corefile', { ...run, conf: '/etc/coredns/Corefile' }],
    ['--conf=stdin -quiet', { ...run, conf: 'stdin', isQuiet: true }],
    ['-blocks-extra=extra', { ...run, blocksExtra: 'extra' }],
    ['-conf ', run],
    ['-dns.port 1053', { ...run, port: '1053' }],
    ['-dns.port=1 -p 2', { ...run, port: '2' }],
    ['-pidfile /run/pid -quiet=false --', { ...run, pidFile: '/run/pid' }],
    [
      '-compat 1.13 --metrics-compat=1.6',
      { ...run, compat: { profile: '1.13', restored: ALL_RESTORED }, metricsCompat: '1.6' },
    ],
    ['-compat=own-query', { ...run, compat: { profile: '1.14', restored: new Set(['own-query']) } }],
    ['-compat= -metrics-compat=', run],
    ['-plugin=a=/a.js --plugin b=b:before=file', { ...run, plugins: ['a=/a.js', 'b=b:before=file'] }],
    [
      '-query-log -query-log-zone=a.test -query-log-zone b.test',
      {
        ...run,
        queryLog: {
          file: undefined,
          settings: { format: 'text', sample: 1, zones: ['a.test.', 'b.test.'], rcodes: [], clients: [] },
        },
      },
    ],
    [
      '-compat=1.14 --query-log=/q',
      {
        kind: 'end',
        text: '--query-log: cannot be given while -compat restores own-directives: CoreDNS does not have it. Take it out, use the plugin log, or keep own-directives, as in -compat=1.14,-own-directives.\n',
        exitCode: 1,
      },
    ],
    [
      '-compat=findings -events=dns/dns',
      {
        kind: 'end',
        text: expect.stringContaining('has no effect while -compat restores findings'),
        exitCode: 1,
      },
    ],
    [
      '-query-log-sample=5',
      {
        kind: 'end',
        text: '-query-log-sample: has no effect without -query-log: "5". Leave it out, or give -query-log.\n',
        exitCode: 1,
      },
    ],
    ['-version -plugins', { kind: 'version' }],
    ['-plugins', { kind: 'plugins' }],
    [
      'extra -version',
      { kind: 'end', text: 'extra command line arguments: [extra -version]\n', exitCode: 1 },
    ],
    ['-quiet -- -p', { kind: 'end', text: 'extra command line arguments: [-p]\n', exitCode: 1 }],
  ];
  for (const [line, expected] of cases) it(`takes "${line}"`, () => expect(read(line)).toEqual(expected));

  const help = [
    'Usage of coredns:',
    '  -blocks-extra string',
    '    \tFile with further directives, for server blocks of the Corefile',
    '  -compat string',
    '    \tVersion of CoreDNS to keep to, 1.13 or 1.14, or ids of deviations to restore',
    '  -conf string',
    '    \tCorefile to load (default "Corefile")',
    '  -dns.port string',
    '    \tDefault port (default "53")',
    '  -metrics-compat string',
    '    \tVersion of CoreDNS whose names of metrics are shown too, with those of its run time: 1.6, 1.10, 1.14',
    '  -p string',
    '    \tDefault port (default "53")',
    '  -pidfile string',
    '    \tPath to write pid file',
    '  -plugin string',
    '    \tPlugin of others, as in name=/plugins/module.js',
    '  -plugins',
    '    \tList installed plugins',
    '  -quiet',
    '    \tQuiet mode (no initialization output)',
    '  -version',
    '    \tShow version',
    '',
  ].join('\n');
  const faults: readonly (readonly [string, string])[] = [
    ['-nosuchflag', 'flag provided but not defined: -nosuchflag'],
    ['-pidfile', 'flag needs an argument: -pidfile'],
    ['-quiet=maybe', 'invalid boolean value "maybe" for -quiet: parse error'],
    [
      '-compat 1.12',
      'invalid value "1.12" for flag -compat: not a version of CoreDNS that is known: "1.12". Name 1.13 or 1.14.',
    ],
    ['-metrics-compat=2', 'invalid value "2" for flag -metrics-compat: one of 1.6, 1.10, 1.14'],
    ['-=x', 'bad flag syntax: -=x'],
  ];
  for (const [line, fault] of faults)
    it(`refuses "${line}" with the usage, and exit code 2`, () => {
      expect(read(line)).toEqual({ kind: 'end', text: `${fault}\n${help}`, exitCode: 2 });
    });

  it('shows the usage when asked, with exit code 0, and what CoreDNS does not have', () => {
    const end = read('--help');
    if (end.kind !== 'end') throw new Error(end.kind);
    expect(end.exitCode).toBe(0);
    expect(end.text.startsWith(help)).toBe(true);
    expect(end.text.slice(help.length)).toContain('-autoscale <kind/name>');
  });

  it('takes the autoscaler along', () => {
    const command = read('-autoscale=deployment/coredns --autoscale-configmap dns-autoscaler -quiet');
    expect(command).toMatchObject({
      isQuiet: true,
      autoscaler: { namespace: 'kube-system', configMap: 'dns-autoscaler', targets: [{ name: 'coredns' }] },
    });
  });

  it('refuses a target that there cannot be, with exit code 1', () => {
    for (const flag of ['-autoscale', '--autoscale']) {
      const end = read(`${flag}=coredns --autoscale-configmap=a/b`);
      expect(end).toMatchObject({ kind: 'end', exitCode: 1 });
      // Messages name the flag as written, dashes included.
      expect(end.kind === 'end' && end.text.split('\n').map((line) => line.split(':')[0])).toEqual([
        '--autoscale-configmap',
        flag,
        '',
      ]);
    }
  });
});
