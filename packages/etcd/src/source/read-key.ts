/**
 * Reads one key once, for settings that a program needs before it starts.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { EtcdClient } from './client/etcd-client.ts';
import type { EtcdSettings } from './client/settings.ts';

export interface KeyAddress {
  readonly etcd: EtcdSettings;
  /** Version of etcd's API; 2 is deprecated. */
  readonly version: 2 | 3;
  readonly key: string;
}

/** @returns undefined if the key does not exist. @throws EtcdError */
export async function readKey({ etcd, version, key }: KeyAddress, clock: Clock): Promise<string | undefined> {
  if (version === 2) return await readKeyByV2(etcd, key, clock);
  const client = new EtcdClient(etcd, clock);
  try {
    const { keyValues } = await client.range({ key: Buffer.from(key) });
    return keyValues[0]?.value.toString('utf8');
  } finally {
    client.close();
  }
}

async function readKeyByV2(etcd: EtcdSettings, key: string, clock: Clock): Promise<string | undefined> {
  const { EtcdV2Client } = await import('../v2/client.ts');
  const client = new EtcdV2Client(etcd, clock);
  try {
    const { nodes } = await client.read(key);
    return nodes.find((node) => node.key === key)?.value;
  } finally {
    client.close();
  }
}
