/**
 * Names of services in a cluster domain that is not ours go upstream, and say so: in the metrics, in readiness and once in the log.
 */
import { ask } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it } from 'vitest';
import { serveCorefile } from '../support/control.ts';
import { endAllPrograms, look, servePortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

/** As the root does, with the SOA by which the denial is cached. */
const DENIES_ALL = `template ANY ANY {
    rcode NXDOMAIN
    authority ". 60 IN SOA ns.example. host.example. 1 60 60 60 60"
  }`;

it('counts them and names the domain', async () => {
  const upstream = await serveCorefile(DENIES_ALL);
  const serving = await servePortolan(['--example', `--upstream=127.0.0.1:${upstream.port}`]);
  await serving.program.heard('cluster listed');
  // The first look learns which domain is ours.
  expect((await look(serving, '/readyz')).text).toBe('ok\n');
  for (const service of ['cart', 'web', 'db', 'queue', 'search']) {
    await ask(serving, `${service}.shop.svc.cluster.lokal`, 'A');
    await ask(serving, `${service}.shop.svc.cluster.local`, 'A');
  }
  await expect
    .poll(async () => (await look(serving, '/metrics')).text, { timeout: 20_000 })
    .toContain('\nportolan_foreign_domain_denials_total 5\n');
  expect((await look(serving, '/readyz')).text).toMatch(
    /^ok\nfinding=foreign-cluster-domain upstream servers denied 5 names of services in the cluster domain cluster\.lokal\.; this server serves cluster\.local\.\n$/,
  );
});
