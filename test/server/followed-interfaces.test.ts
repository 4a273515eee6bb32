import { readPlan } from '@portolan/frontends/dnsmasq/settings/testing/read-plan.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Interfaces } from '@portolan/kernel/listen/local-addresses.ts';
import { QueryEventRings } from '@portolan/kernel/listen/query-events/event-rings.ts';
import { makeStartThread } from '@portolan/kernel/listen/reader-threads.ts';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { FollowedInterfaces } from '@portolan/server/followed-interfaces.ts';
import { ListenerGroups } from '@portolan/server/listener-groups.ts';
import { writePlainListeners } from '@portolan/server/plan/plain-block.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it } from 'vitest';

const IPV4 = { family: 'IPv4', mac: '', netmask: '255.0.0.0', internal: false } as const;
const LATE: Interfaces = { eth9: [{ ...IPV4, address: '127.0.0.9', cidr: '127.0.0.9/8' }] };

const opened: { stop(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.stop();
});

function make(lines: string, interfaces: () => Interfaces) {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const table = new TableWriter({ readers: 1, reservation: 2 ** 26 });
  const listeners = new ListenerGroups({
    engine: {
      table,
      metrics: new MetricRegistry(),
      reader: new TableReader(table.memory, 0),
      getListenerGroupNumber: () => 0,
      serverBlocks: {
        limits: { listRatedZones: () => [] },
        findQueryHandler: () => async (query) => {
          const response = Uint8Array.from(query);
          response[2] = (response[2] ?? 0) | 0x80;
          return response;
        },
      },
    },
    readers: 1,
    commonReaders: 1,
    takeover: false,
    udpSize: 1232,
    givesOfferedSize: false,
    forwarding: undefined,
    startReader: makeStartThread(new URL('file:///none')),
    events: new QueryEventRings(1),
    socketLog: log,
    clock,
    log,
  });
  const { listen: plan } = readPlan(lines);
  const group = writePlainListeners({ port: plan.port });
  const followed = new FollowedInterfaces({
    open: (addresses) => listeners.add([{ ...group, addresses }]),
    openLater: (address) => listeners.openLater(group, address),
    addresses: () => listeners.addresses,
    plan,
    interfaces,
    clock,
    log,
  });
  opened.push(followed, listeners);
  return { followed, listeners, clock, log };
}

it('serves an interface from the moment it comes up', async () => {
  const port = await findFreePort('127.0.0.9');
  let machine: Interfaces = {};
  const { followed, listeners, clock, log } = make(`interface=eth9\nport=${port}`, () => machine);
  await followed.start();
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
  const { followed } = make('interface=eth9\nbind-interfaces\nport=20053', () => ({}));
  await expect(followed.start()).rejects.toThrow('unknown interface: eth9');
});

it('opens nothing where DNS is off', async () => {
  const { followed, listeners } = make('port=0', () => LATE);
  await followed.start();
  expect(listeners.addresses).toEqual([]);
});
