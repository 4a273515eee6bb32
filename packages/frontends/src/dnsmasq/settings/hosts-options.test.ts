import { describe, expect, it } from 'vitest';
import { readLines, readNotes, readPlan, readProblems } from './testing/read-plan.ts';

const readLocalPlan = (lines: string) => readPlan(lines).local;

describe('hosts files', () => {
  it('are /etc/hosts and then the others, the last given first', () => {
    expect(readLocalPlan('addn-hosts=/a\naddn-hosts=/b').hostsFiles).toEqual(['/etc/hosts', '/b', '/a']);
    expect(readLocalPlan('no-hosts\naddn-hosts=/a').hostsFiles).toEqual(['/a']);
  });

  it('may be in folders that are followed', () => {
    expect(readLocalPlan('hostsdir=/h\nexpand-hosts').hostsFolders).toEqual(['/h']);
  });

  it('have paths', () => {
    expect(readNotes('addn-hosts=')).toEqual(['An empty path names no file: it is left out.']);
  });
});

describe('the domain', () => {
  it('is one for all, and others for ranges', () => {
    const { domain, rangeDomains } = readLocalPlan(
      'domain=Lan.example\ndomain=a,10.0.0.0/24\ndomain=b,10.1.0.1,10.1.0.9\ndomain=c,10.2.0.1\ndomain=d,2001:db8::/56\ndomain=e,eth0',
    );
    expect(domain).toBe('lan.example.');
    expect(rangeDomains).toEqual([
      { domain: 'e.', of: { kind: 'interface', interface: 'eth0' } },
      { domain: 'd.', of: { kind: 'range', first: '2001:db8::', last: '2001:db8:0:ff:ffff:ffff:ffff:ffff' } },
      { domain: 'c.', of: { kind: 'range', first: '10.2.0.1', last: '10.2.0.1' } },
      { domain: 'b.', of: { kind: 'range', first: '10.1.0.1', last: '10.1.0.9' } },
      { domain: 'a.', of: { kind: 'range', first: '10.0.0.0', last: '10.0.0.255' } },
    ]);
  });

  it('keeps its names here with `local`', () => {
    expect(readPlan('domain=a,10.0.0.0/24,local').upstreams.routes).toEqual([
      { scope: { kind: 'domain', name: '0.0.10.in-addr.arpa.' }, action: { kind: 'local' } },
      { scope: { kind: 'domain', name: 'a.' }, action: { kind: 'local' } },
    ]);
  });

  it('is read from the resolv file', () => {
    const files = { '/r': 'nameserver 10.0.0.10\nsearch\nsearch First.example second.example\nsearch third' };
    expect(readPlan('domain=#\nresolv-file=/r', { files }).local.domain).toBe('first.example.');
  });

  it.each([
    ['domain=#\nno-resolv', 1],
    ['domain=#\nresolv-file=/r\nresolv-file=/s', 1],
    ['domain=#\nresolv-file=/none', 3],
    ['domain=#\nresolv-file=/r', 5],
  ])('%j cannot be read', (lines, exitCode) => {
    const reading = readLines(lines, { files: { '/r': 'nameserver 10.0.0.10\n' } });
    expect(reading).toMatchObject({ kind: 'bad', exitCode });
  });

  it.each(['a,10.0.0.0/33', 'a,x/8', 'a,10.0.0.0/24,near', 'a,10.0.0.1,::1', '-A'])(
    '%j is refused',
    (value) => {
      expect(readProblems(`domain=${value}`)).toHaveLength(1);
    },
  );
});
