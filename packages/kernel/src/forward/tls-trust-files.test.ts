import { copyFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { RecordingLog } from '../base/testing/recording-log.ts';
import { makeTemporaryFolder } from '../base/testing/temporary-folder.ts';
import { TlsTrustFiles } from './tls-trust-files.ts';

const FIXTURES = join(import.meta.dirname, '../../../../test/api-server/tls');

async function follow() {
  const folder = await makeTemporaryFolder();
  const toPath = (name: string) => join(folder.path, name);
  const put = (name: string, from: string) => copyFile(join(FIXTURES, from), toPath(name));
  await put('ca.crt', 'authority.crt');
  await put('tls.crt', 'client.crt');
  await put('tls.key', 'client.key');
  const clock = new ManualClock();
  const log = new RecordingLog();
  const paths = { authorities: toPath('ca.crt'), certificate: toPath('tls.crt'), key: toPath('tls.key') };
  const trust = new TlsTrustFiles(paths, { clock, log });
  const look = () => {
    clock.advance(10_000);
    return trust.certificates;
  };
  const listReasons = () => log.records.map(({ fields }) => String(fields?.['reason']));
  return { trust, look, put, clock, toPath, listReasons };
}

it('reads changed files once in ten seconds, for who opens a connection then', async () => {
  const { trust, look, put, clock, listReasons } = await follow();
  const first = trust.certificates;
  await put('ca.crt', 'server.crt');
  clock.advance(9_999);
  expect(trust.certificates).toBe(first);
  const next = look();
  expect(next.authorities).not.toEqual(first.authorities);
  expect(next.own).toEqual(first.own);
  expect(look()).toBe(next);
  expect(listReasons()).toEqual([]);
});

it('keeps what it has while a certificate is not that of the key, and takes both', async () => {
  const { trust, look, put, listReasons } = await follow();
  const first = trust.certificates;
  await put('tls.crt', 'server.crt');
  expect(look()).toBe(first);
  expect(look()).toBe(first);
  expect(listReasons()).toEqual([expect.stringMatching(/key values mismatch/i)]);
  await put('tls.key', 'server.key');
  expect(look().own?.key).not.toBe(first.own?.key);
  expect(listReasons()).toHaveLength(1);
});

it('keeps what it has while a file is missing, empty or half written', async () => {
  const { trust, look, put, toPath, listReasons } = await follow();
  const first = trust.certificates;
  await rm(toPath('ca.crt'));
  expect(look()).toBe(first);
  await writeFile(toPath('ca.crt'), '');
  expect(look()).toBe(first);
  await writeFile(toPath('ca.crt'), '-----BEGIN CERTIFICATE-----\nMIIB');
  expect(look()).toBe(first);
  expect(listReasons()).toHaveLength(3);
  await put('ca.crt', 'authority.crt');
  expect(look()).toEqual(first);
});
