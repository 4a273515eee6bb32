/**
 * Reads one key once, for settings that a program needs before it starts.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { EtcdClient } from './client/etcd-client.ts';
import type { EtcdSettings } from './client/settings.ts';
import { EtcdV2Client } from './client/v2-client.ts';

export interface KeyAddress {
  readonly etcd: EtcdSettings;
  readonly version: 2 | 3;
  readonly key: string;
}

/** @returns undefined if the key does not exist. @throws EtcdError */
export async function readKey({ etcd, version, key }: KeyAddress, clock: Clock): Promise<string | undefined> {
  const client = version === 3 ? new EtcdClient(etcd, clock) : new EtcdV2Client(etcd, clock);
  try {
    if (client instanceof EtcdV2Client) {
      const { nodes } = await client.read(key);
      return nodes.find((node) => node.key === key)?.value;
    }
    const { keyValues } = await client.range({ key: Buffer.from(key) });
    return keyValues[0]?.value.toString('utf8');
  } finally {
    client.close();
  }
}
