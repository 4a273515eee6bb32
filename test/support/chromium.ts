/**
 * Chromium as a client of `https://` listeners that have the certificate of the tests.
 */
import { execFile } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';

const run = promisify(execFile);
/** Milliseconds: only a browser that hangs takes so long. */
const PATIENCE = 45_000;

/** The hash of the server's key, which Chromium takes without an authority. */
function keyHash(): string {
  const { publicKey } = new X509Certificate(readFileSync(tlsFixturePath('server.crt')));
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64');
}

/** Opens a page that Chromium finds by DNS over HTTPS alone. @param port of the listener on loopback @returns the page as HTML */
export async function openPage(url: string, port: number): Promise<string> {
  const folder = await makeTemporaryFolder();
  const settings = { mode: 'secure', templates: `https://127.0.0.1:${port}/dns-query` };
  await folder.write('profile/Local State', JSON.stringify({ dns_over_https: settings }));
  const { stdout } = await run(
    'chromium',
    [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      `--user-data-dir=${folder.path}/profile`,
      `--ignore-certificate-errors-spki-list=${keyHash()}`,
      '--no-proxy-server',
      '--dump-dom',
      url,
    ],
    { timeout: PATIENCE, killSignal: 'SIGKILL' },
  );
  return stdout;
}
