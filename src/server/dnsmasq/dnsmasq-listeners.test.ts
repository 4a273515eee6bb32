import { afterEach, expect, it } from 'vitest';
import { planOf } from '../../../test/dnsmasq-options/plan-of.ts';
import { ask } from '../../../test/support/ask.ts';
import { findFreePort } from '../../../test/support/free-port.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { RecordingLog } from '../../../test/support/recording-log.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';
import { VERDICT } from '../../table/types.ts';
import { DnsmasqListeners } from './dnsmasq-listeners.ts';
import type { Interfaces } from './interface-choice.ts';

const IPV4 = { family: 'IPv4', mac: '', netmask: '255.0.0.0', internal: false } as const;
const LATE: Interfaces = { eth9: [{ ...IPV4, address: '127.0.0.9', cidr: '127.0.0.9/8' }] };

const opened: DnsmasqListeners[] = [];
afterEach(async () => {
  for (const listeners of opened.splice(0)) await listeners.stop();
});

function make(lines: string, interfaces: () => Interfaces) {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const listeners = new DnsmasqListeners({
    ...{ plan: planOf(lines).listen, interfaces, clock, log },
    table: new SharedArrayBuffer(0),
    answers: { enter() {}, leave() {}, setTime() {}, answer: () => VERDICT.ASK },
    answerSlowly: async (query) => {
      const response = Uint8Array.from(query);
      response[2] = (response[2] ?? 0) | 0x80;
      return response;
    },
    ...{ udpReaders: 1, readerEntry: new URL('file:///none'), onReaderDead() {} },
  });
  opened.push(listeners);
  return { listeners, clock, log };
}

it('serves an interface from the moment it comes up', async () => {
  const port = await findFreePort('127.0.0.9');
  let machine: Interfaces = {};
  const { listeners, clock, log } = make(`interface=eth9\nport=${port}`, () => machine);
  await listeners.open();
  expect(listeners.addresses).toEqual([]);
  expect(log.records[0]?.message).toBe('warning: interface eth9 does not currently exist');
  machine = LATE;
  await waitUntil('the address to be served', () => listeners.addresses.length > 0, {
    step: () => clock.advance(1_000),
  });
  for (const transport of ['udp', 'tcp'] as const) {
    const { header } = await ask({ address: '127.0.0.9', port }, 'www.example.', 'A', { transport });
    expect(header.response).toBe(true);
  }
});

it('does not wait for an interface that it is to bind', async () => {
  const { listeners } = make('interface=eth9\nbind-interfaces\nport=20053', () => ({}));
  await expect(listeners.open()).rejects.toThrow('unknown interface: eth9');
});

it('opens nothing where DNS is off', async () => {
  const { listeners } = make('port=0', () => LATE);
  await listeners.open();
  expect(listeners.addresses).toEqual([]);
});
