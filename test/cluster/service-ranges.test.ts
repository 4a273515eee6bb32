/**
 * Ranges of service addresses that are added to a cluster (ServiceCIDR): a server that names its reverse zones by ranges says which one is
 * missing, and answers for it after a change of its Corefile.
 */

import type { Diagnosis } from '@portolan/server/reasons/finding.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { namespace, service } from '../list-watch/harness.ts';
import { formatSocketName, runToEnd, serveCorefile } from '../support/control.ts';
import { endAllPrograms } from '../support/portolan.ts';

afterEach(endAllPrograms);

const NEW = '5.0.112.10.in-addr.arpa';
const NEW_IPV6 = '5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa';

it('are found where no reverse zone has them, and answered once one has', async () => {
  const objects = [
    namespace('default'),
    service('old', '10.96.0.4'),
    service('new', '10.112.0.5'),
    service('six', '2001:db8::5'),
  ];
  const double = await ApiServerDouble.start({ objects });
  onTestFinished(() => double.stop());
  const plugins = (zones: string) => `kubernetes cluster.local ${zones} {
    endpoint ${double.url}
  }
  reload 2s 1s`;
  const { program, port, write } = await serveCorefile(plugins('10.96.0.0/16'));
  const server = { address: '127.0.0.1', port };
  const diagnose = async () => {
    const words = [
      'doctor',
      `--socket=${formatSocketName(program, 'coredns')}`,
      '--watch=0s',
      '--output=json',
    ];
    const { findings } = JSON.parse((await runToEnd(...words)).text) as Diagnosis; // Our own format.
    return findings.filter(({ kind }) => kind === 'no-reverse-zone').map(({ sentence }) => sentence);
  };
  await expect
    .poll(() => askShort(server, '4.0.96.10.in-addr.arpa', 'PTR'))
    .toBe('old.default.svc.cluster.local.');
  // No reverse zone is of IPv6, by choice.
  await expect
    .poll(diagnose)
    .toEqual([
      'address 10.112.0.5 of service default/new is in no reverse zone of the server, so it has no PTR record',
    ]);
  expect(await askShort(server, NEW, 'PTR')).toBe('SERVFAIL');
  write(plugins('10.96.0.0/16 10.112.0.0/16 ip6.arpa'));
  await expect.poll(() => askShort(server, NEW, 'PTR')).toBe('new.default.svc.cluster.local.');
  expect(await askShort(server, NEW_IPV6, 'PTR')).toBe('six.default.svc.cluster.local.');
  expect(await diagnose()).toEqual([]);
});
