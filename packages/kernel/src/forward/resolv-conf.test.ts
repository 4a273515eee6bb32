import { describe, expect, it } from 'vitest';
import { parseResolvConf, readResolvConf } from './resolv-conf.ts';
import { formatUpstream } from './upstream-address.ts';

const texts = (servers: Parameters<typeof formatUpstream>[0][]) => servers.map(formatUpstream);

describe('parseResolvConf', () => {
  it('reads all name servers and nothing else', () => {
    const { servers, problems } = parseResolvConf(
      [
        '# nameserver 192.0.2.9',
        'search default.svc.cluster.local svc.cluster.local',
        'options ndots:5',
        'nameserver 192.0.2.1',
        '\tnameserver\t192.0.2.2   # the second',
        'nameserver 2001:DB8::1;comment',
        'nameserver fe80::1%eth0\r',
        'nameservers 192.0.2.9',
      ].join('\n'),
    );
    expect(texts([...servers])).toEqual([
      '192.0.2.1:53',
      '192.0.2.2:53',
      '[2001:db8::1]:53',
      '[fe80::1%eth0]:53',
    ]);
    expect(problems).toEqual([]);
  });

  it('reports lines that name no address, and goes on', () => {
    const { servers, problems } = parseResolvConf(
      'nameserver dns.example\nnameserver\nnameserver 192.0.2.1\n',
    );
    expect(texts([...servers])).toEqual(['192.0.2.1:53']);
    expect(problems).toEqual([
      { line: 1, message: 'not an IP address: "dns.example"' },
      { line: 2, message: 'not an IP address: ""' },
    ]);
  });
});

describe('readResolvConf', () => {
  const BEHIND = '/run/systemd/resolve/resolv.conf';
  const read = (files: Record<string, string>) => {
    const { servers, files: followed } = readResolvConf('/etc/resolv.conf', (path) => files[path]);
    return { servers: texts([...servers]), followed };
  };

  it("sees through systemd's stub", () => {
    const stub = 'nameserver 127.0.0.53\noptions edns0 trust-ad\n';
    expect(read({ '/etc/resolv.conf': stub, [BEHIND]: 'nameserver 192.0.2.1\n' })).toEqual({
      servers: ['192.0.2.1:53'],
      followed: ['/etc/resolv.conf', BEHIND],
    });
  });

  it('keeps the stub where nothing is known behind it', () => {
    for (const behind of ['', '# empty\n']) {
      const files = { '/etc/resolv.conf': 'nameserver 127.0.0.53\n', [BEHIND]: behind };
      expect(read(files).servers).toEqual(['127.0.0.53:53']);
    }
  });

  it('leaves a stub among others alone, and survives a missing file', () => {
    const both = 'nameserver 127.0.0.53\nnameserver 192.0.2.1\n';
    expect(read({ '/etc/resolv.conf': both, [BEHIND]: 'nameserver 192.0.2.2\n' })).toEqual({
      servers: ['127.0.0.53:53', '192.0.2.1:53'],
      followed: ['/etc/resolv.conf'],
    });
    expect(read({})).toEqual({ servers: [], followed: ['/etc/resolv.conf'] });
  });
});
