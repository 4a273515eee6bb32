/**
 * Chromium as a client of `https://`: it finds a page by DNS over HTTPS alone.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { afterEach, expect, onTestFinished } from 'vitest';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';
import { openPage } from '../support/chromium.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { itWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

/** A page on loopback. @returns its port */
async function servePage(text: string): Promise<number> {
  const pages = createServer((_, response) => response.end(`<html><body>${text}</body></html>`));
  pages.listen(0, '127.0.0.1');
  await once(pages, 'listening');
  onTestFinished(() => {
    pages.closeAllConnections();
    pages.close();
  });
  return (pages.address() as AddressInfo).port; // It listens on a port.
}

itWithTool('chromium', 'Chromium finds a page by its questions over HTTPS', async () => {
  const port = await findFreePort();
  const metrics = await findFreePort();
  const page = await servePage('found it');
  const folder = await makeTemporaryFolder();
  const conf = await folder.write(
    'Corefile',
    `https://.:${port} {
  bind 127.0.0.1
  tls ${tlsFixturePath('server.crt')} ${tlsFixturePath('server.key')}
  prometheus 127.0.0.1:${metrics}
  template IN A page.example {
    answer "{{ .Name }} 60 IN A 127.0.0.1"
  }
  template IN ANY page.example {
    rcode NOERROR
  }
}
`,
  );
  const program = runPortolan(['coredns', '-conf', conf]);
  await waitUntil('the banner', () => program.output.includes('linux/'));
  expect(await openPage(`http://page.example:${page}/`, port)).toContain('found it');
  const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  const [, answered] = /^coredns_dns_https_responses_total\{.*status="200"\} (\d+)$/m.exec(text) ?? [];
  expect(Number(answered)).toBeGreaterThan(0);
});
