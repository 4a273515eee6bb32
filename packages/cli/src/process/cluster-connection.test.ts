import type { Connection } from '@portolan/kubernetes/api/connection/types.ts';
import { describe, expect, it } from 'vitest';
import { type ClusterClient, ClusterCompanion } from './cluster-connection.ts';

/** A companion with a client that notes what happens to it. */
function makeCompanion() {
  const steps: string[] = [];
  let settle = (_: Connection | Error) => {};
  const connecting = new Promise<Connection>((resolve, reject) => {
    settle = (result) => (result instanceof Error ? reject(result) : resolve(result));
  });
  const client: ClusterClient = {
    async stop() {
      steps.push('client stopped');
    },
  };
  const companion = new ClusterCompanion({
    connect: () => connecting,
    run: async () => {
      steps.push('client runs');
      return client;
    },
    onFailure: (reason) => void steps.push(reason),
  });
  // Only its end is looked at.
  const connection = { close: () => steps.push('connection closed') } as unknown as Connection;
  return {
    companion,
    steps,
    connect: () => settle(connection),
    refuse: (error: Error) => settle(error),
  };
}

const turns = () => new Promise((resolve) => setImmediate(resolve));

describe('a client of the API server in a server', () => {
  it('delays neither start nor stop, and ends before the server', async () => {
    const { companion, steps, connect } = makeCompanion();
    companion.serve();
    connect();
    await turns();
    expect(steps).toEqual(['client runs']);
    companion.leave();
    await turns();
    expect(steps).toEqual(['client runs', 'client stopped', 'connection closed']);
    await companion.stop();
    expect(steps).toHaveLength(3);
  });

  it('closes a connection that is made after the stop', async () => {
    const { companion, steps, connect } = makeCompanion();
    companion.serve();
    await companion.stop();
    connect();
    await turns();
    expect(steps).toEqual(['connection closed']);
  });

  it('says why it cannot start, and stops all the same', async () => {
    const { companion, steps, refuse } = makeCompanion();
    companion.serve();
    refuse(new Error('no cluster found'));
    await turns();
    expect(steps).toEqual(['Error: no cluster found']);
    await companion.stop();
  });
});
