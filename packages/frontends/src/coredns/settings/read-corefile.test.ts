import type { OrderProfile } from '@portolan/corefile/coredns-version.ts';
import type { CorefileFiles } from '@portolan/corefile/syntax/corefile-files.ts';
import { describeCorefileProblem, describeCorefileWarning } from '@portolan/corefile/syntax/findings.ts';
import { describe, expect, it } from 'vitest';
import type { CorefilePluginName, CorefileUse } from '../../plugins/registry.ts';
import { type CorefileSettings, readCorefile, readDigest } from './read-corefile.ts';

const FILES: Readonly<Record<string, string>> = {
  '/etc/resolv.conf': 'search x\nnameserver 192.0.2.53\n',
  '/run/loop.conf': 'nameserver 127.0.0.53\n',
  '/etc/h': '',
  '/imported': 'whoami\n',
  '/db.b': '@ 60 IN SOA ns host 1 2 3 4 60\n',
  '/zones/db.a': '@ 60 IN SOA ns host 1 2 3 4 60\n',
  '/db.bad': '@ 60 IN SOA ns host 1 2 3 4 60\na 60 A x\n\nb 60 MX y z\n',
  '/tls/cert.pem': '',
  '/tls/key.pem': '',
  '/ca': '',
};
const files: CorefileFiles = {
  read: (path) => FILES[path] ?? '',
  findKind: (path) => (FILES[path] === undefined ? undefined : 'file'),
  list: () => [],
};

const SETTINGS: CorefileSettings = {
  file: 'Corefile',
  profile: '1.14',
  defaultPort: 53,
  environment: { ZONE: 'a.test' },
  files,
  interfaces: new Map([['eth0', ['10.0.0.1', 'fe80::1%eth0']]]),
};

function read(text: string, profile: OrderProfile = '1.14') {
  return readCorefile(text, { ...SETTINGS, profile });
}

function readUses(text: string, profile: OrderProfile = '1.14'): readonly CorefileUse[] {
  const reading = read(text, profile);
  if (reading.kind === 'bad') throw new Error(reading.problems.map(({ message }) => message).join('\n'));
  return reading.blocks.flatMap((block) => block.plugins);
}

function readOptions(name: CorefilePluginName, lines: string, key = 'example.org'): unknown {
  return readUses(`${key} {\n${lines}\n}\n`).find((use) => use.name === name)?.options;
}

describe('the options of a directive', () => {
  it('acl', () => {
    expect(
      readOptions(
        'acl',
        'acl {\nALLOW net 10.0.0.0/8 192.0.2.1 type A AAAA\nfilter type ANY\ndrop net *\n}\nacl a.test {\nblock\n}',
      ),
    ).toEqual({
      rules: [
        {
          zones: ['example.org.'],
          policies: [
            {
              action: 'allow',
              types: [1, 28],
              clients: [
                { address: '10.0.0.0', prefix: 8 },
                { address: '192.0.2.1', prefix: 32 },
              ],
            },
            { action: 'filter', types: [255], clients: 'all' },
            { action: 'drop', types: 'all', clients: 'all' },
          ],
        },
        { zones: ['a.test.'], policies: [{ action: 'block', types: 'all', clients: 'all' }] },
      ],
    });
  });

  it('bind', () => {
    expect(readOptions('bind', 'bind 192.0.2.1 eth0 {\nexcept 10.0.0.1\n}\nbind ::1')).toEqual({
      addresses: ['192.0.2.1', 'fe80::1%eth0', '::1'],
    });
  });

  it('cache', () => {
    const limits = { capacity: 9984, minTtl: 5 };
    expect(readOptions('cache', 'cache')).toMatchObject({
      zones: ['example.org.'],
      success: { ...limits, maxTtl: 3600 },
      denial: { ...limits, maxTtl: 1800 },
      prefetch: undefined,
      serveStale: undefined,
      servfailTtl: 5000,
    });
    expect(
      readOptions(
        'cache',
        'cache 30 10.0.0.0/15 {\nsuccess 100\ndenial 200 20 0\nprefetch 5 2m 20%\nserve_stale 1h VERIFY 100ms 30s 1m\nserve_stale_policy prefer_positive\nservfail 0s\ndisable success\ndisable denial a.test b.test\nkeepttl\n}',
      ),
    ).toEqual({
      kind: 'coredns',
      zones: ['0.10.in-addr.arpa.', '1.10.in-addr.arpa.'],
      success: { capacity: 100, maxTtl: 30, minTtl: 5 },
      denial: { capacity: 200, maxTtl: 20, minTtl: 0, isMinTtlGiven: true },
      prefetch: { amount: 5, duration: 120_000, percentage: 20 },
      serveStale: {
        duration: 3_600_000,
        refresh: 'verify',
        verifyTimeout: 100,
        ttl: 30,
        recheck: 60_000,
        prefersPositive: true,
      },
      servfailTtl: 0,
      uncachedSuccess: ['.'],
      uncachedDenial: ['a.test.', 'b.test.'],
      keepTtl: true,
    });
    expect(readOptions('cache', 'cache {\nserve_stale\n}')).toMatchObject({
      serveStale: {
        duration: 3_600_000,
        refresh: 'immediate',
        verifyTimeout: undefined,
        ttl: 0,
        recheck: 0,
        prefersPositive: false,
      },
    });
  });

  it('errors and log', () => {
    const { consolidations } = readOptions(
      'errors',
      'errors {\nconsolidate 1m "^a" warning show_first\nconsolidate -1s b\n}',
    ) as {
      consolidations: readonly {
        period: number;
        pattern: { source: string };
        level: string;
        showFirst: boolean;
      }[];
    };
    expect(consolidations.map(({ pattern, ...others }) => [pattern.source, others])).toEqual([
      ['^a', { period: 60_000, level: 'warning', showFirst: true }],
      ['b', { period: -1000, level: 'error', showFirst: false }],
    ]);
    expect(
      readOptions('log', 'log\nlog a.test B.test "{remote} {combined}" {\nclass denial error\n}'),
    ).toMatchObject({
      rules: [
        { zone: '.', format: expect.stringContaining('{remote}:{port} - {>id} "{type}'), classes: ['all'] },
        {
          zone: 'a.test.',
          format: expect.stringMatching(/^\{remote\} \{remote\}:.* "\{>opcode\}"$/),
          classes: ['denial', 'error'],
        },
        { zone: 'b.test.' },
      ],
    });
  });

  it('file, with root', () => {
    expect(
      readOptions(
        'file',
        'root /zones\nfile db.a a.test 10.0.0.0/8 {\nreload 30s\n}\nfile /db.b {\nreload 0\nreload_by_mtime\nfallthrough\n}',
      ),
    ).toEqual({
      zones: [
        { origin: 'a.test.', path: '/zones/db.a', reload: 30_000, reloadByMtime: false },
        { origin: '10.in-addr.arpa.', path: '/zones/db.a', reload: 30_000, reloadByMtime: false },
        { origin: 'example.org.', path: '/db.b', reload: 0, reloadByMtime: true },
      ],
      fallthrough: ['.'],
    });
  });

  it('forward', () => {
    expect(readOptions('forward', 'forward . /etc/resolv.conf 192.0.2.1 192.0.2.1:53')).toMatchObject({
      routes: [
        {
          from: '.',
          plan: {
            rules: [],
            policy: 'random',
            retry: { trigger: 'timeout' },
            health: { kind: 'passive' },
            hedging: true,
            streams: { idle: 10_000, maxAge: 0, minConnections: 1 },
            limits: { inFlight: 1500, perClient: 100, queued: 500 },
          },
          sources: {
            upstreams: [
              { kind: 'file', path: '/etc/resolv.conf' },
              { kind: 'address', scheme: 'dns', address: '192.0.2.1', port: 53, serverName: undefined },
            ],
            forceTcp: false,
            coreDns: {
              readTimeout: 2000,
              attempts: undefined,
              health: {
                kind: 'checks',
                maxFails: 2,
                check: { interval: 500, recursionDesired: true, domain: '.' },
              },
              failsFast: false,
              limits: {},
            },
          },
          replies: { kind: 'as-sent', prefersUdp: false, maxConcurrent: 0 },
        },
      ],
    });
    expect(
      readOptions(
        'forward',
        'forward a.test tls://9.9.9.9%dns.test [2001:db8::1]:5353 fe80::1%eth0 https://dns.test:444 tls://[2001:db8::2%x.test]:853 {\nexcept b.a.test\nforce_tcp\nprefer_udp\nexpire 5s\nmax_age 1m\nmax_idle_conns 3\nread_timeout 1s\nmax_fails 0\nmax_connect_attempts 0\ntls /tls/cert.pem /tls/key.pem /ca\npolicy sequential\nhealth_check 1s no_rec domain x.test\nmax_concurrent 9\nnext nxdomain REFUSED\nnext_on_nodata\nfailover SERVFAIL\nfailfast_all_unhealthy_upstreams\ndoh_method GET\nsource_address 192.0.2.9\nresolver 192.0.2.8:53\n}',
      ),
    ).toMatchObject({
      routes: [
        {
          from: 'a.test.',
          except: ['b.a.test.'],
          nextRcodes: [3, 5],
          nextOnNoData: true,
          plan: {
            policy: 'sequential',
            tryNextOn: [2],
            streams: { idle: 5000, maxAge: 60_000, minConnections: 1, maxConnections: 3 },
            httpsMethod: 'GET',
            // max_connect_attempts asks as CoreDNS does.
            timing: { minTimeout: 1000, firstTimeout: 1000 },
            retry: { trigger: 'failure', attempts: Number.POSITIVE_INFINITY },
            health: { kind: 'checks', maxFails: 0 },
            failFast: true,
            hedging: false,
            limits: { inFlight: 9, perClient: 100, queued: 0 },
          },
          sources: {
            upstreams: [
              { kind: 'address', scheme: 'tls', address: '9.9.9.9', port: 853, serverName: 'dns.test' },
              { kind: 'address', scheme: 'dns', address: '2001:db8::1', port: 5353, serverName: undefined },
              { kind: 'address', scheme: 'dns', address: 'fe80::1%eth0', port: 53, serverName: undefined },
              { kind: 'name', scheme: 'https', name: 'dns.test', port: 444, serverName: undefined },
              { kind: 'address', scheme: 'tls', address: '2001:db8::2', port: 853, serverName: 'x.test' },
            ],
            forceTcp: true,
            tls: {
              certificate: '/tls/cert.pem',
              key: '/tls/key.pem',
              authorities: '/ca',
              serverName: undefined,
            },
            sourceAddress: '192.0.2.9',
            resolvers: ['192.0.2.8:53'],
            coreDns: {
              readTimeout: 1000,
              attempts: 0,
              health: {
                kind: 'checks',
                maxFails: 0,
                check: { interval: 1000, recursionDesired: false, domain: 'x.test.' },
              },
              failsFast: true,
              limits: { inFlight: 9, queued: 0 },
            },
          },
          replies: { kind: 'as-sent', prefersUdp: true, maxConcurrent: 9 },
        },
      ],
    });
  });

  it('hosts', () => {
    expect(readOptions('hosts', 'hosts')).toEqual({
      path: '/etc/hosts',
      zones: ['example.org.'],
      inline: [],
      ttl: 3600,
      hasReverse: true,
      reload: 5000,
      fallthrough: [],
      fallsThroughUnsupported: false,
    });
    expect(
      readOptions(
        'hosts',
        'hosts /etc/h a.test {\n192.0.2.1 x y\nttl 60\nno_reverse\nreload 0\nfallthrough b.a.test\nfallthrough_unsupported\n}',
      ),
    ).toEqual({
      path: '/etc/h',
      zones: ['a.test.'],
      inline: ['192.0.2.1 x y'],
      ttl: 60,
      hasReverse: false,
      reload: 0,
      fallthrough: ['b.a.test.'],
      fallsThroughUnsupported: true,
    });
  });

  it('kubernetes', () => {
    const options = readOptions(
      'kubernetes',
      'kubernetes 10.0.0.0/8 cluster.local {\nendpoint https://a https://b\ntls c k a\nkubeconfig kc ctx\napiserver_qps 1.5\napiserver_burst 2\napiserver_max_inflight 3\nnamespaces a b a\nlabels app in (x, y)\npods verified\nendpoint_pod_names\nttl 30\nnoendpoints\nignore empty_service\nfallthrough\nstartup_timeout 1m\n}',
    );
    expect(options).toEqual({
      kind: 'directive',
      zones: ['10.in-addr.arpa.', 'cluster.local.'],
      primaryZone: 'cluster.local.',
      api: {
        endpoint: 'https://a',
        tls: { certificate: 'c', key: 'k', authorities: 'a' },
        kubeconfig: { path: 'kc', context: 'ctx' },
        qps: 1.5,
        burst: 2,
        maxInflight: 3,
      },
      pods: 'verified',
      endpointPodNames: true,
      namespaces: ['a', 'b'],
      namespaceLabels: undefined,
      labels: 'app in (x, y)',
      ttl: 30,
      hasEndpoints: false,
      ignoresEmptyService: true,
      zonal: false,
      multicluster: [],
      fallthrough: ['.'],
      startupTimeout: 60_000,
    });
    expect(readOptions('kubernetes', 'kubernetes {\nzonal\n}')).toMatchObject({ zonal: true });
    expect(readOptions('kubernetes', 'kubernetes')).toMatchObject({
      ttl: 5,
      pods: 'disabled',
      startupTimeout: 5000,
    });
  });

  it('rewrite', () => {
    const rules = [
      'rewrite name a.test b.test',
      'rewrite continue name suffix .a .b answer auto answer value (.*)\\.c {1}.d',
      'rewrite stop {\nname regex (.*)\\.x {1}.y\nanswer name (.*)\\.y {1}.x\n}',
      'rewrite type ANY HINFO',
      'rewrite class CH IN',
      'rewrite ttl suffix z.test 30-',
      'rewrite ttl z.test 60',
      'rewrite rcode z.test SERVFAIL 0',
      'rewrite cname prefix a b',
      'rewrite edns0 local set 0xffee {client_ip} revert',
      'rewrite edns0 local append 65517 0x6162',
      'rewrite edns0 subnet replace 24 56',
      'rewrite edns0 nsid unset',
    ];
    const { rules: read } = readOptions('rewrite', rules.join('\n')) as {
      readonly rules: readonly unknown[];
    };
    const pattern = (source: string) => expect.objectContaining({ source });
    const exact = (text: string) => ({ kind: 'exact', text });
    expect(read).toEqual([
      {
        mode: 'stop',
        field: 'name',
        match: exact('a.test.'),
        to: 'b.test.',
        restoresName: true,
        answers: [],
      },
      {
        mode: 'continue',
        field: 'name',
        match: { kind: 'suffix', text: '.a.' },
        to: '.b.',
        restoresName: true,
        answers: [{ field: 'value', pattern: pattern('(.*)\\.c'), to: '{1}.d.' }],
      },
      {
        mode: 'stop',
        field: 'name',
        match: { kind: 'regex', pattern: pattern('(.*)\\.x') },
        to: '{1}.y.',
        restoresName: false,
        answers: [{ field: 'name', pattern: pattern('(.*)\\.y'), to: '{1}.x.' }],
      },
      { mode: 'stop', field: 'type', from: 255, to: 13 },
      { mode: 'stop', field: 'class', from: 3, to: 1 },
      { mode: 'stop', field: 'ttl', match: { kind: 'suffix', text: 'z.test.' }, min: 30, max: 2 ** 31 - 1 },
      { mode: 'stop', field: 'ttl', match: exact('z.test.'), min: 60, max: 60 },
      { mode: 'stop', field: 'rcode', match: exact('z.test.'), from: 2, to: 0 },
      { mode: 'stop', field: 'cname', match: { kind: 'prefix', text: 'a' }, to: 'b' },
      {
        mode: 'stop',
        field: 'edns0',
        action: 'set',
        option: 'local',
        code: 0xffee,
        reverts: true,
        value: { kind: 'variable', name: 'client_ip' },
      },
      {
        mode: 'stop',
        field: 'edns0',
        action: 'append',
        option: 'local',
        code: 65_517,
        reverts: false,
        value: { kind: 'octets', octets: Buffer.from('ab') },
      },
      {
        mode: 'stop',
        field: 'edns0',
        action: 'replace',
        option: 'subnet',
        ipv4Prefix: 24,
        ipv6Prefix: 56,
        reverts: false,
      },
      { mode: 'stop', field: 'edns0', action: 'unset', option: 'nsid', reverts: false },
    ]);
  });

  it('template', () => {
    expect(
      readOptions(
        'template',
        'template IN A a.test {\nmatch ^x y\nanswer "{{ .Name }} 60 IN A 192.0.2.1"\nrcode NXDOMAIN\nederror 15 "by policy"\nfallthrough\n}\ntemplate ANY ANY {\n}',
      ),
    ).toMatchObject({
      templates: [
        {
          class: 1,
          type: 1,
          zones: ['a.test.'],
          rcode: 3,
          fallthrough: ['.'],
          patterns: [{ source: '^x' }, { source: 'y' }],
          answer: [{ use: 'answer', source: '{{ .Name }} 60 IN A 192.0.2.1' }],
          extendedError: { code: 15, text: 'by policy' },
        },
        { class: 255, type: 255, zones: ['example.org.'], patterns: [], rcode: 0, extendedError: undefined },
      ],
    });
  });

  const small: readonly (readonly [CorefilePluginName, string, unknown])[] = [
    ['bufsize', 'bufsize', { size: 1232 }],
    ['bufsize', 'bufsize 512', { size: 512 }],
    ['cancel', 'cancel', { timeout: 5001 }],
    ['cancel', 'cancel 3s', { timeout: 3000 }],
    ['chaos', 'chaos', { kind: 'coredns', version: undefined, authors: undefined }],
    ['chaos', 'chaos v z a z', { kind: 'coredns', version: 'v', authors: ['a', 'z'] }],
    [
      'header',
      'header {\nresponse set RA aa\nquery clear rd\n}',
      {
        response: [
          { flag: 'ra', value: true },
          { flag: 'aa', value: true },
        ],
        query: [{ flag: 'rd', value: false }],
      },
    ],
    ['health', 'health', { address: ':8080', lameduck: 0 }],
    ['health', 'health 127.0.0.1:1 {\nlameduck 5s\n}', { address: '127.0.0.1:1', lameduck: 5000 }],
    ['loadbalance', 'loadbalance round_robin', { weighted: undefined, preferred: [] }],
    ['local', 'local {\nlocalhost_prefix off\n}', { answersLocalhostPrefix: false }],
    ['loop', 'loop', { zone: 'example.org.' }],
    ['multisocket', 'multisocket', { sockets: undefined }],
    ['multisocket', 'multisocket 4', { sockets: 4 }],
    ['nsid', 'nsid a b', { data: 'a b' }],
    ['pprof', 'pprof {\nblock\n}', { address: 'localhost:6053', blockRate: 1 }],
    [
      'prometheus',
      'prometheus',
      { address: 'localhost:9153', hasRuntimeMetrics: false, tlsConfiguration: undefined },
    ],
    [
      'prometheus',
      'prometheus :1 {\nruntime_metrics\ntls f\n}',
      { address: ':1', hasRuntimeMetrics: true, tlsConfiguration: 'f' },
    ],
    ['proxyproto', 'proxyproto', { trusted: [], others: 'use', sessions: undefined }],
    ['proxyproto', 'proxyproto {\ndefault REJECT\n}', { trusted: [], others: 'reject', sessions: undefined }],
    [
      'proxyproto',
      'proxyproto {\nallow 192.0.2.1/32 2001:db8::/32\nallow 10.0.0.0/8\nudp_session_tracking 28s 20\n}',
      {
        trusted: [
          { address: '192.0.2.1', prefix: 32 },
          { address: '2001:db8::', prefix: 32 },
          { address: '10.0.0.0', prefix: 8 },
        ],
        others: 'ignore',
        sessions: { milliseconds: 28_000, max: 20 },
      },
    ],
    [
      'proxyproto',
      'proxyproto {\nallow 192.0.2.1/32\ndefault skip\nudp_session_tracking 1m\nudp_session_tracking 0s\n}',
      { trusted: [{ address: '192.0.2.1', prefix: 32 }], others: 'skip', sessions: undefined },
    ],
    ['grpc_server', 'grpc_server', { maxStreams: undefined, maxConnections: undefined }],
    [
      'grpc_server',
      'grpc_server {\nmax_streams 0\nmax_connections 7\n}',
      { maxStreams: 0, maxConnections: 7 },
    ],
    [
      'grpc',
      'grpc . 192.0.2.1',
      {
        from: '.',
        except: [],
        servers: [{ kind: 'address', address: '192.0.2.1', port: 53 }],
        tls: undefined,
        policy: 'random',
        fallthrough: [],
      },
    ],
    [
      'grpc',
      'grpc example.org 192.0.2.1:443 [2001:db8::1]:444 2001:db8::2 grpc://192.0.2.2 dns://192.0.2.3 unix:///run/s {\n' +
        'except a.example.org b.example.org\nexcept c.example.org\npolicy round_robin\ntls_servername dns.example\nfallthrough example.org\n}',
      {
        from: 'example.org.',
        except: ['a.example.org.', 'b.example.org.', 'c.example.org.'],
        servers: [
          { kind: 'address', address: '192.0.2.1', port: 443 },
          { kind: 'address', address: '2001:db8::1', port: 444 },
          { kind: 'address', address: '2001:db8::2', port: 53 },
          { kind: 'address', address: '192.0.2.2', port: 443 },
          { kind: 'address', address: '192.0.2.3', port: 53 },
          { kind: 'unix', path: '/run/s' },
        ],
        tls: { serverName: 'dns.example' },
        policy: 'round_robin',
        fallthrough: ['example.org.'],
      },
    ],
    [
      'grpc',
      'grpc . 192.0.2.1:443 {\ntls\nfallthrough\n}',
      {
        from: '.',
        except: [],
        servers: [{ kind: 'address', address: '192.0.2.1', port: 443 }],
        tls: { certificate: undefined, key: undefined, authorities: undefined, serverName: undefined },
        policy: 'random',
        fallthrough: ['.'],
      },
    ],
    ['ready', 'ready {\nmonitor continuously\n}', { address: ':8181', monitor: 'continuously' }],
    ['reload', 'reload', { interval: 30_000, jitter: 15_000 }],
    ['reload', 'reload 10s 9s', { interval: 10_000, jitter: 5000 }],
    ['shed', 'shed', undefined],
    [
      'timeouts',
      'timeouts {\nread 2\nidle 1m\nmaxtcpqueries -1\n}',
      { read: 2000, write: undefined, idle: 60_000, maxTcpQueries: -1 },
    ],
  ];
  for (const [name, lines, expected] of small)
    it(lines.replaceAll('\n', ' '), () => expect(readOptions(name, lines)).toEqual(expected));
});

describe('readCorefile', () => {
  const all = 'forward . 192.0.2.1\ncache\nrewrite type A AAAA\nacl\nwhoami\nhosts\nerrors';

  it('gives plugins the order of the version, not that of the file', () => {
    const names = (profile: OrderProfile) => readUses(`. {\n${all}\n}`, profile).map(({ name }) => name);
    expect(names('1.14')).toEqual(['errors', 'rewrite', 'acl', 'cache', 'hosts', 'forward', 'whoami']);
    expect(names('1.13')).toEqual(['errors', 'acl', 'cache', 'rewrite', 'hosts', 'forward', 'whoami']);
  });

  it('takes an empty file for whoami and log on all names', () => {
    expect(read('# nothing\n')).toMatchObject({
      kind: 'good',
      blocks: [{ keys: [{ shown: '.', port: 53 }], plugins: [{ name: 'log' }, { name: 'whoami' }] }],
    });
  });

  it('has the digest that CoreDNS logs', () => {
    const digest = (text: string) => {
      const reading = read(text);
      return reading.kind === 'good' ? reading.digest : undefined;
    };
    const known = '. {\n    reload\n    whoami\n}\n';
    // Recorded from CoreDNS 1.14.7.
    expect(digest(known)).toMatch(/^4647bce365c15bd7f5b453adc182528c/);
    expect(digest('.   {\n  reload\n\twhoami # x\n}')).toBe(digest(known));
    expect(digest(`# a comment\n${known}`)).not.toBe(digest(known));
    expect(
      digest(
        '. {\n    errors\n    reload 2s 1s\n    template IN TXT . {\n        answer "{{ .Name }} 60 IN TXT one"\n    }\n}\n',
      ),
    ).toMatch(/^2899c090a6dcb6cf/);
  });

  it.each([
    ['plugins', '. {\nfile /db.b\nforward . 192.0.2.1\n}\n'],
    ['nothing', '# nothing\n'],
    ['an environment variable and an import', '{$ZONE} {\nimport /imported\n}\n'],
    ['a directive that is not known', '. {\nnosuch\n}\n'],
    ['options that are wrong', '. {\nfile /db.bad a.test\ncache 0\n}\n'],
  ])('knows the digest without the plugins: %s', (_, text) => {
    const extra = { file: 'extra', text: '. {\nerrors\n}\na.test {\nerrors\n}\n' };
    for (const settings of [SETTINGS, { ...SETTINGS, extra }]) {
      const { digest } = readCorefile(text, settings);
      expect(digest).toMatch(/^[\da-f]{128}$/);
      expect(readDigest(text, settings)).toBe(digest);
    }
  });

  it.each([
    ['an open brace', '. {\nwhoami\n'],
    ['an import of nothing', '. {\nimport /none\n}\n'],
  ])('has no digest of what does not parse: %s', (_, text) => {
    expect(readDigest(text, SETTINGS)).toBeUndefined();
    expect(read(text)).toMatchObject({ kind: 'bad', digest: undefined });
  });

  it('says what is wrong with the zone files, and where', () => {
    const reading = read('. {\nfile /db.bad a.test\nfile /db.b b.test\nfile /db.none c.test\n}\n');
    const problems = reading.kind === 'bad' ? reading.problems.map(describeCorefileProblem) : [];
    const prefix = 'plugin/file: failed to parse file "/db.bad" for origin a.test. with error /db.bad: dns:';
    expect(problems).toEqual([
      `${prefix} bad A A: "x" at line: 2:8\n  /db.bad:2: Not an IPv4 address: "x". (imported at Corefile:2)`,
      `${prefix} bad MX Pref: "y" at line: 4:9\n  /db.bad:4: Not a whole number from 0 to 65535: "y". (imported at Corefile:2)`,
    ]);
    expect(reading.warnings.map(({ message }) => message)).toEqual([
      'plugin/file: Failed to open "open /db.none: no such file or directory": trying again in 1m0s',
    ]);
  });

  it('reads on after each fault', () => {
    const reading = read(
      'a..b c {\n health 8080 {\n nosuch\n lameduck x\n }\n cache {\n success x\n denial 1 0\n nosuch 1\n }\n forward\n forward . 192.0.2.1 {\n nosuch {\n x\n }\n expire x\n }\n quic\n}\nc {\n}\n',
    );
    expect(reading.kind === 'bad' ? reading.problems.map(({ message }) => message) : []).toEqual([
      'error inspecting server blocks: zone is not a valid domain name: a..b',
      'plugin/quic: not built into Portolan',
      'plugin/health: address 8080: missing port in address',
      'plugin/cache: strconv.Atoi: parsing "x": invalid syntax',
      'plugin/cache: cache TTL can not be zero or negative: 0',
      "plugin/cache: Corefile:9 - Error during parsing: Wrong argument count or unexpected line ending after 'nosuch'",
      "plugin/forward: Corefile:11 - Error during parsing: Wrong argument count or unexpected line ending after 'forward'",
      "plugin/forward: Corefile:13 - Error during parsing: unknown property 'nosuch'",
      'plugin/forward: time: invalid duration "x"',
      'cannot serve dns://c.:53 - it is already defined',
    ]);
  });
});

describe('a warning', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['. {\nerrors\n}', 'No plugin of this server block answers questions'],
    [
      '. {\nhosts /etc/h\nforward . 192.0.2.1\n}',
      'Without fallthrough, every name that hosts does not have is answered SERVFAIL: forward',
    ],
    ['. {\nhosts {\n192.0.2.1 a\nfallthrough\n}\n}', 'hosts always reads a file'],
    ['. {\nautopath @kubernetes\nwhoami\n}', 'this server block has no kubernetes'],
    ['. {\nautopath @forward\nforward . 192.0.2.1\n}', 'only kubernetes and kubernetai know how'],
    ['. {\nautopath @kubernetai\nkubernetes cluster.local\n}', 'this server block has no kubernetai'],
    ['. {\nautopath @kubernetai\nkubernetai cluster.local\n}', 'it needs pods verified in kubernetai'],
    ['. {\nautopath @kubernetes\nkubernetes cluster.local\n}', 'it needs pods verified'],
    ['. {\nhosts {\nfallthrought\n}\n}', 'is neither a property nor an address with names'],
    [
      '. {\ntemplate IN AAAA {\nmatch x\nanswer "x"\n}\n}',
      'questions of type AAAA below . that match no pattern are answered SERVFAIL',
    ],
    ['. {\ntemplate IN AAAA {\nrcode NOERROR\n}\n}', 'has no SOA record'],
    [
      '. {\ntemplate IN AAAA {\nanswer x\n}\nkubernetes cluster.local {\nfallthrough\n}\n}',
      'template stands before kubernetes',
    ],
    ['. {\nkubernetes a.test in-addr.arpa\nforward . 192.0.2.1\n}', 'Write fallthrough in-addr.arpa.'],
    ['b.test {\nkubernetes a.test\n}', 'a.test. is not below a zone of its server block'],
    ['. {\nforward . 192.0.2.1\nforward a.test 192.0.2.2\n}', 'The forward for a.test. is never asked'],
    [
      '. {\nforward 10.0.0.0/15 192.0.2.1\n}',
      "Unsupported CIDR notation: '10.0.0.0/15' expands to multiple zones",
    ],
    ['. {\nforward . /run/loop.conf\n}', '/run/loop.conf names 127.0.0.53'],
    ['. {\nforward . 192.0.2.1:x\n}', 'is no port'],
    ['. {\nforward . 192.0.2.1\ncache {\nserve_stale\n}\n}', 'serve_stale keeps negative answers too'],
    ['. {\nwhoami\nprometheus\n}\na {\nwhoami\n}', 'its queries are not counted'],
    [
      'test {\nwhoami\n}\na.test {\nwhoami\n}',
      'Questions for DS at and below a.test. go to the server block of test.',
    ],
    ['. {\nwhoami\nrewrite name suffix .a .b\n}', 'leaves the changed name in the answer'],
    ['. {\nwhoami\nrewrite name prefix a- b- answer auto\n}', 'it fits whole labels only'],
    ['. {\nwhoami\nlog "{remote}"\n}', 'is taken as a name'],
    ['. {\nfile db {\nupstream\n}\n}', '"upstream" has had no effect'],
  ];
  for (const [text, words] of cases)
    it(words, () => {
      const { warnings } = read(text);
      expect(warnings.map(describeCorefileWarning)).toContainEqual(expect.stringContaining(words));
    });

  it('is not given where the same is done on purpose', () => {
    const texts = [
      '. {\nhosts {\nfallthrough\n}\nforward . 192.0.2.1\n}',
      '. {\nforward . 192.0.2.1 {\nnext NXDOMAIN\n}\nforward . 192.0.2.2\n}',
      '. {\nforward a.test 192.0.2.1\nforward . 192.0.2.2\n}',
      '. {\nforward . 192.0.2.1\nrewrite name a b\nrewrite name regex a b answer auto\nrewrite name suffix .a .b answer name (.*) {1}\n}',
      '. {\nforward . 192.0.2.1\n}\na.test {\nforward . 192.0.2.1\n}',
      '. {\ntemplate IN A a {\nmatch x\nanswer "x"\nfallthrough\n}\nforward . 192.0.2.1\n}',
    ];
    for (const text of texts) expect(read(text).warnings, text).toEqual([]);
  });
});

describe('keys that cannot sign', () => {
  it.each([
    [
      'dnssec {\nkey aws_secretsmanager K\n}',
      'keys of AWS Secrets Manager are not read',
      'Mount the keys as files',
    ],
    ['dnssec {\nkey keyring K\n}', 'unknown kind of key: "keyring"', 'Name files of keys'],
    ['dnssec {\nkey file none\n}', 'open none.key: no such file or directory', 'Name files of keys'],
    ['sign db {\nkey keyring K\n}', 'unknown kind of key: "keyring"', 'flag KSK'],
    ['sign db {\nkey directory none\n}', 'no key of . in none', 'flag KSK'],
  ])('%j', (lines, message, remedy) => {
    const reading = read(`. {\n${lines}\nwhoami\n}\n`);
    const problems = reading.kind === 'bad' ? reading.problems : [];
    const [plugin = ''] = lines.split(' ');
    expect(problems.map((problem) => problem.message)).toEqual([`plugin/${plugin}: ${message}`]);
    expect(problems[0]?.remedy).toContain(remedy);
    expect(reading.warnings).toEqual([]);
  });

  it('are missing from sign, which does nothing then', () => {
    expect(read('. {\nsign db\nwhoami\n}\n').warnings.map(({ message }) => message)).toHaveLength(1);
  });
});

describe('a plugin that is not built', () => {
  it.each([
    ['nomad', 'service.consul'],
    ['route53', "the provider's resolver"],
    ['azure', "the provider's resolver"],
    ['clouddns', "the provider's resolver"],
  ])('%s is refused by name, with what to use', (name, remedy) => {
    const reading = read(`. {\n${name}\nwhoami\n}\n`);
    const problems = reading.kind === 'bad' ? reading.problems : [];
    expect(problems.map(({ message }) => message)).toEqual([`plugin/${name}: not built into Portolan`]);
    expect(problems[0]?.remedy).toContain(remedy);
  });
});
