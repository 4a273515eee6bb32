import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { expect, it, onTestFinished } from 'vitest';
import { openEarlyPorts, takeEarlyPort } from './early-ports.ts';

it('lives on when a connection cannot be accepted', async () => {
  const address = '127.0.0.1';
  const port = await findFreePort(address);
  await openEarlyPorts('serve', [`--healthz-port=${address}:${port}`]);
  const early = await takeEarlyPort({ address, port });
  expect(early?.handle.listening).toBe(true);
  onTestFinished(() => void early?.handle.close());
  // Node.js throws what nobody listens to.
  early?.handle.emit('error', new Error('accept EMFILE'));
  expect(early?.handle.listening).toBe(true);
});
