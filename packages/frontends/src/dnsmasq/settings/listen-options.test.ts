import { describe, expect, it } from 'vitest';
import { readNotes, readPlan, readProblems } from './testing/read-plan.ts';

const readListenPlan = (lines: string) => readPlan(lines).listen;

it.each([
  ['port=0', { port: 0 }],
  [
    'listen-address=127.0.0.1, ::0:1\nlisten-address=10.0.0.1',
    { addresses: ['127.0.0.1', '::1', '10.0.0.1'] },
  ],
  ['interface=eth0,wlan*', { interfaces: ['eth0', 'wlan*'] }],
  ['interface=', { interfaces: [] }],
  ['except-interface=eth1', { exceptInterfaces: ['eth1'], interfaces: 'all' }],
  ['bind-interfaces', { bind: 'interfaces' }],
  ['bind-dynamic', { bind: 'dynamic' }],
  ['edns-packet-max=4096', { ednsPacketMax: 4096 }],
  ['edns-packet-max=100', { ednsPacketMax: 512 }],
  ['edns-packet-max=65535', { ednsPacketMax: 4096 }],
  ['max-tcp-connections=7', { maxTcpConnections: 7 }],
])('%j', (lines, listen) => {
  expect(readListenPlan(lines)).toMatchObject(listen);
});

describe('local-service', () => {
  it.each([
    ['local-service', { localService: true, interfaces: 'all', bind: 'wildcard' }],
    ['local-service=net', { localService: true }],
    ['local-service=host', { localService: false, interfaces: [], bind: 'interfaces' }],
    ['local-service\ninterface=eth0', { localService: false, interfaces: ['eth0'] }],
    ['local-service\nexcept-interface=eth0', { localService: false }],
    ['local-service=host\nlisten-address=10.0.0.1', { interfaces: 'all', bind: 'wildcard' }],
  ])('%j', (lines, listen) => {
    expect(readListenPlan(lines)).toMatchObject(listen);
  });
});

it('tells what dnsmasq does not tell', () => {
  expect(readNotes('edns-packet-max=100')).toEqual(['512 octets are the minimum, as in dnsmasq.']);
  expect(readNotes('edns-packet-max=65535')).toEqual([
    expect.stringContaining('4096 octets are the maximum'),
  ]);
});

it.each(['port=65536', 'listen-address=', 'listen-address=a', 'local-service=all', 'max-tcp-connections=0'])(
  '%s is refused',
  (line) => {
    expect(readProblems(line)).toHaveLength(1);
  },
);
