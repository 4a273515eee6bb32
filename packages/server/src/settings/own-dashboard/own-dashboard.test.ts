import { describe, expect, it } from 'vitest';
import type { FlagsOf } from '../flags/flag.ts';
import { createFlagReader } from '../flags/flag-reader.ts';
import { OWN_DASHBOARD_FLAGS, readOwnDashboard } from './own-dashboard.ts';

function read(flags: FlagsOf<typeof OWN_DASHBOARD_FLAGS>) {
  const reader = createFlagReader(OWN_DASHBOARD_FLAGS, flags);
  const plan = readOwnDashboard(reader);
  return reader.problems.length === 0
    ? plan
    : reader.problems.map(({ where, fault }) => `${where}: ${fault}`);
}

describe('the dashboard of a server', () => {
  it('is at loopback, and nowhere by default', () => {
    expect(read({})).toBeUndefined();
    expect(read({ dashboard: '8083' })).toEqual({ address: '127.0.0.1', port: 8083, hosts: [] });
    expect(read({ dashboard: '[::1]:0' })).toEqual({ address: '::1', port: 0, hosts: [] });
    expect(read({ dashboard: '127.0.0.2:1', dashboardHost: ['Dns.example'] })).toMatchObject({
      hosts: ['dns.example'],
    });
  });

  it.each(['0.0.0.0:8083', '10.0.0.1:8083', '[::]:8083'])(
    'is not at %s unless it is allowed',
    (dashboard) => {
      expect(read({ dashboard })).toEqual(['--dashboard: not an address of loopback']);
      expect(read({ dashboard, dashboardHost: ['dns.example'] })).toMatchObject({ port: 8083 });
    },
  );

  it.each([
    [{ dashboard: 'localhost:1' }, '--dashboard: not an IP address'],
    [{ dashboard: '127.0.0.1:x' }, '--dashboard: not a whole number'],
    [{ dashboard: '1', dashboardHost: ['http://a:1'] }, '--dashboard-host: not a host'],
    [{ dashboardHost: ['a'] }, '--dashboard-host: has no effect without --dashboard'],
  ])('is not %j', (flags, problem) => {
    expect(read(flags)).toEqual([problem]);
  });
});
