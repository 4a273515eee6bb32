/**
 * Answers from wildcard addresses have the queried address as source, on a machine with several addresses of each family: in a
 * network namespace made for the test.
 */
import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { hasTool, itWhere } from '../support/tools.ts';

let threadEntry: URL;
let processEntry: URL;
beforeAll(async () => {
  threadEntry = await bundleThread('test/listen/scripted-thread.ts');
  processEntry = await bundleThread('test/listen/wildcard-process.ts');
});

/** Runs a command in a network of its own, as its root. */
const UNSHARE = ['unshare', '-rn'] as const;
const mayMakeNetworks = spawnSync(UNSHARE[0], [UNSHARE[1], 'true']).status === 0;

itWhere(
  hasTool('ip') && mayMakeNetworks,
  'ip and unshare -rn',
  'answers come from the address that was asked',
  async () => {
    const addresses = ['10.9.0.1', '10.9.0.2', 'fd00:9::1', 'fd00:9::2', '127.0.0.1', '::1'];
    const script = `set -e
    ip link set lo up
    for address in 10.9.0.1/32 10.9.0.2/32 fd00:9::1/128 fd00:9::2/128; do ip address add $address dev lo; done
    exec "$@"`;
    const command = [process.execPath, fileURLToPath(processEntry), threadEntry.href, ...addresses];
    const { stdout } = await promisify(execFile)(UNSHARE[0], [
      UNSHARE[1],
      'sh',
      '-c',
      script,
      'sh',
      ...command,
    ]);
    expect(JSON.parse(stdout)).toEqual(addresses.flatMap((address) => [address, address]));
  },
);
