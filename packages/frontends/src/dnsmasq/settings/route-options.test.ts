import { describe, expect, it } from 'vitest';
import type { DnsmasqRoute } from './dnsmasq-plan.ts';
import { readNotes, readPlan, readProblems } from './testing/read-plan.ts';

const readRoutes = (lines: string): readonly DnsmasqRoute[] => readPlan(lines).upstreams.routes;

function forwardTo(address: string, port = 53): DnsmasqRoute['action'] {
  const host = { kind: 'address', address } as const;
  const server = { transport: 'udp', host, port, serverName: undefined, source: undefined } as const;
  return { kind: 'forward', server };
}

describe('scopes', () => {
  it.each([
    ['local=/example.com/', { kind: 'domain', name: 'example.com.' }],
    ['local=/.Example.com/', { kind: 'domain', name: 'example.com.' }],
    ['local=/*example.com/', { kind: 'suffix', text: 'example.com' }],
    ['local=/*.example.com/', { kind: 'suffix', text: '.example.com' }],
    ['local=//', { kind: 'plain-names' }],
    ['local=/#/', { kind: 'all' }],
    ['local=/*/', { kind: 'all' }],
    ['local=', { kind: 'all' }],
  ])('%s', (line, scope) => {
    expect(readRoutes(line)).toEqual([{ scope, action: { kind: 'local' } }]);
  });

  it('share one action', () => {
    expect(readRoutes('server=/a/b.c/10.0.0.1#54')).toEqual([
      { scope: { kind: 'domain', name: 'a.' }, action: forwardTo('10.0.0.1', 54) },
      { scope: { kind: 'domain', name: 'b.c.' }, action: forwardTo('10.0.0.1', 54) },
    ]);
  });

  it('leave out what no question can ask for, and say so', () => {
    expect(readRoutes('server=/a..b/c/10.0.0.1').map(({ scope }) => scope)).toEqual([
      { kind: 'domain', name: 'c.' },
    ]);
    expect(readNotes('server=/a..b/10.0.0.1')).toEqual([
      'No question is within "a..b", since it has an empty label: it is left out.',
    ]);
  });
});

describe('actions', () => {
  it.each([
    ['server=10.0.0.1', forwardTo('10.0.0.1')],
    ['server=#', { kind: 'default' }],
    ['server=/a/#', { kind: 'default' }],
    ['address=/a/10.0.0.1', { kind: 'address', address: '10.0.0.1' }],
    ['address=/a/2001:DB8::0', { kind: 'address', address: '2001:db8::' }],
    ['address=/a/#', { kind: 'null-address' }],
    ['address=/a/', { kind: 'local' }],
    ['address=10.0.0.1', { kind: 'address', address: '10.0.0.1' }],
  ])('%s', (line, action) => {
    expect(readRoutes(line).map((route) => route.action)).toEqual([action]);
  });

  it('are kept in order', () => {
    const lines = 'server=10.0.0.1\naddress=/a/10.0.0.9\nserver=10.0.0.2';
    expect(readRoutes(lines).map(({ action }) => action)).toEqual([
      forwardTo('10.0.0.1'),
      { kind: 'address', address: '10.0.0.9' },
      forwardTo('10.0.0.2'),
    ]);
  });
});

describe('rev-server', () => {
  it('takes several zones where the prefix ends inside a label', () => {
    expect(readRoutes('rev-server=10.1.2.0/23,10.0.0.1')).toEqual([
      { scope: { kind: 'domain', name: '2.1.10.in-addr.arpa.' }, action: forwardTo('10.0.0.1') },
      { scope: { kind: 'domain', name: '3.1.10.in-addr.arpa.' }, action: forwardTo('10.0.0.1') },
    ]);
  });

  it('keeps the network here without a server', () => {
    expect(readRoutes('rev-server=10.0.0.0/8').map(({ action }) => action)).toEqual([{ kind: 'local' }]);
  });
});

it('reports what is wrong with the place and the piece', () => {
  expect(readProblems('server=/a/1.2.3.4#x\naddress=/a/b\nrev-server=x/8')).toEqual([
    'standard input:1: server: not a port: "x". Give an address such as 10.0.0.10 or 10.0.0.10#5353, or # for the ordinary servers.',
    'standard input:2: address: not an IP address: "b". Give one such as 10.0.0.10 or 2001:db8::1, # for the null addresses, or none for NXDOMAIN.',
    'standard input:3: rev-server: not an IP address: "x". Give a network such as 10.1.0.0/16.',
  ]);
});
