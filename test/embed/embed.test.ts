/**
 * The example of a server in a program of one's own.
 */
import { askShort } from '@portolan/testing/client/ask.ts';
import { expect, it, onTestFinished } from 'vitest';
import { serve } from '../../examples/embed/server.ts';

it('serves a zone and a cluster', async () => {
  const { port, stop } = await serve();
  onTestFinished(async () => void (await Promise.all(stop())));
  const ask = (name: string) => askShort({ address: '127.0.0.1', port }, name, 'A');
  expect(await ask('www.example.org')).toBe('192.0.2.80');
  expect(await ask('cart.shop.svc.cluster.local')).toMatch(/^10\./);
  expect(await ask('nosuch.shop.svc.cluster.local')).toBe('NXDOMAIN');
});
