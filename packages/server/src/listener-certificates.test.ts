import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { TlsIdentity, TlsOptions } from '@portolan/kernel/listen/secure/tls-identity.ts';
import type { Encryption } from '@portolan/kernel/listen/tcp.ts';
import { expect, it } from 'vitest';
import { type EncryptingListener, ListenerCertificates } from './listener-certificates.ts';

const FIXTURES = join(import.meta.dirname, '../../../test/api-server/tls');
const SERVER = 'tls://:853';
const CHECK = 10_000;

class Listener implements EncryptingListener {
  encryption: Encryption | undefined;
  readonly renewals: TlsIdentity[] = [];

  encrypt(encryption: Encryption | undefined): void {
    this.encryption = encryption;
  }

  renew(identity: TlsIdentity): void {
    this.renewals.push(identity);
  }
}

async function startScene() {
  const folder = await makeTemporaryFolder();
  const put = async (name: string, from: string) => {
    // A new file, as a Secret that changes is one.
    const path = await folder.write(randomBytes(4).toString('hex'), await readFile(join(FIXTURES, from)));
    await rename(path, join(folder.path, name));
  };
  await put('tls.crt', 'server.crt');
  await put('tls.key', 'server.key');
  const options: TlsOptions = {
    certificate: join(folder.path, 'tls.crt'),
    key: join(folder.path, 'tls.key'),
    authorities: undefined,
    clientAuthentication: 'nocert',
    keyLog: undefined,
  };
  const clock = new ManualClock();
  const log = new RecordingLog();
  const listener = new Listener();
  const certificates = new ListenerCertificates<Listener>(clock, log);
  await certificates.open(SERVER, options, async (encryption) => {
    listener.encrypt(encryption);
    return listener;
  });
  const messages = () => log.records.map(({ message }) => message);
  /** Checks the files again and again until something has been logged. */
  const untilLogged = (pattern: RegExp) =>
    waitUntil(`${pattern}`, () => messages().some((message) => pattern.test(message)), {
      step: () => clock.advance(CHECK),
    });
  return { folder, put, options, clock, listener, certificates, messages, untilLogged };
}

it('gives a listener a certificate that has changed, once certificate and key fit', async () => {
  const { put, listener, messages, untilLogged } = await startScene();
  expect(listener.encryption?.identity.certificate).toEqual(await readFile(join(FIXTURES, 'server.crt')));
  await put('tls.crt', 'client.crt');
  await untilLogged(/^plugin\/tls: Keeping the former certificate of tls:\/\/:853: .*key values mismatch/);
  await put('tls.key', 'client.key');
  await untilLogged(/^plugin\/tls: Reloaded certificate of tls:\/\/:853$/);
  expect(listener.renewals.at(-1)?.certificate).toEqual(await readFile(join(FIXTURES, 'client.crt')));
  // Each fault is logged once.
  expect(messages().filter((message) => message.includes('Keeping'))).toHaveLength(1);
});

it('lets options change, and keeps the former ones where the new files cannot be used', async () => {
  const { options, listener, certificates } = await startScene();
  const before = listener.encryption;
  expect(() => certificates.change(SERVER, { ...options, key: '/nonexistent' })).toThrow(
    'open /nonexistent: no such file or directory',
  );
  expect(listener.encryption).toBe(before);
  certificates.change(SERVER, options);
  expect(listener.encryption).toBe(before);
  certificates.change(SERVER, { ...options, clientAuthentication: 'require' });
  expect(listener.encryption?.identity.clientAuthentication).toBe('require');
  certificates.change(SERVER, undefined);
  expect(listener.encryption).toBeUndefined();
});

it('appends the keys of sessions to a file that only its owner may read', async () => {
  const { folder, options, listener, certificates } = await startScene();
  const keyLog = join(folder.path, 'keys');
  await writeFile(keyLog, 'first\n', { mode: 0o600 });
  certificates.change(SERVER, { ...options, keyLog });
  listener.encryption?.onKeys?.(Buffer.from('second\n'));
  certificates.forget(SERVER);
  let text = '';
  const read = async () => {
    text = await readFile(keyLog, 'utf8');
  };
  await waitUntil('the line', () => text === 'first\nsecond\n', { step: () => void read() });
});
