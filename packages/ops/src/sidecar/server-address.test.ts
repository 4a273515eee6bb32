import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { expect, it } from 'vitest';
import { ServerAddress } from './server-address.ts';

const clock = new ManualClock();
const never = (): Promise<string> => {
  throw new Error('looked up');
};

it.each(['127.0.0.1', '::1', 'fe80::1%eth0'])('looks up no address: %s', async (host) => {
  const server = new ServerAddress({ host, port: 53 }, never, clock);
  expect(await server.find()).toEqual({ kind: 'found', endpoint: { address: host, port: 53 } });
});

it('looks up a name again each time', async () => {
  const addresses = ['192.0.2.1', '2001:db8::1'];
  const server = new ServerAddress({ host: 'dns.test', port: 5 }, async () => addresses.shift() ?? '', clock);
  expect(await server.find()).toEqual({ kind: 'found', endpoint: { address: '192.0.2.1', port: 5 } });
  expect(await server.find()).toEqual({ kind: 'found', endpoint: { address: '2001:db8::1', port: 5 } });
});

it('says that there is no such name', async () => {
  const fail = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
  const server = new ServerAddress({ host: 'dns.test', port: 5 }, fail, clock);
  const reason = 'dial udp: lookup dns.test: no such host';
  expect(await server.find()).toEqual({ kind: 'failed', reason });
});

it('gives up on a look-up that hangs, and starts no second one beside it', async () => {
  let answer: (address: string) => void = () => {};
  let count = 0;
  const lookUp = () => {
    count += 1;
    return new Promise<string>((resolve) => {
      answer = resolve;
    });
  };
  const server = new ServerAddress({ host: 'dns.test', port: 5 }, lookUp, clock);
  for (let turn = 0; turn < 3; turn += 1) {
    const found = server.find();
    clock.advance(2_000);
    expect(await found).toEqual({ kind: 'failed', reason: 'dial udp: lookup dns.test: i/o timeout' });
  }
  expect(count).toBe(1);
  const found = server.find();
  answer('192.0.2.1');
  expect(await found).toMatchObject({ kind: 'found' });
});
