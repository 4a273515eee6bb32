import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closeDescriptor } from './descriptor.ts';
import { PortInUseError } from './socket-error.ts';
import { countUnaccepted, openTcpListener, probeTcpPort } from './tcp-listener.ts';

function open(address: string, port = 0) {
  const listener = openTcpListener({ address, port });
  onTestFinished(() => closeDescriptor(listener.fd));
  return listener;
}

describe('TCP listeners', () => {
  it.each(['127.0.0.1', '0.0.0.0', '::1', '::'])('hold a port on %s, and share it when asked', (address) => {
    const { endpoint } = open(address);
    expect(() => probeTcpPort(endpoint)).toThrow(PortInUseError);
    expect(open(address, endpoint.port).endpoint).toEqual(endpoint);
  });

  it('know how many connections wait to be accepted', async () => {
    const { fd, endpoint } = open('127.0.0.1');
    expect(countUnaccepted(fd)).toBe(0);
    for (let count = 1; count <= 3; count++) {
      const client = connect(endpoint.port, endpoint.address);
      onTestFinished(() => void client.destroy());
      client.on('error', () => {});
      await once(client, 'connect');
      expect(countUnaccepted(fd)).toBe(count);
    }
  });
});
