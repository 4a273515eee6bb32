/**
 * The flags of the dashboard that a server shows of itself.
 */
import type { Flag } from '../flags/flag.ts';

const DASHBOARD = 'Dashboard';

export const OWN_DASHBOARD_FLAGS = [
  {
    name: 'dashboard',
    valueName: 'place',
    value: { kind: 'text', of: 'a port, or an address and a port' },
    help: 'show the dashboard of this server at a port of 127.0.0.1, or at this address and port',
    details:
      'The log has the address to open, with its token. Only addresses of loopback, unless `--dashboard-host` is given; port 0 takes a free one. See [the dashboard](../how-to/dashboard.md#one-server).',
    group: DASHBOARD,
  },
  {
    name: 'dashboard-host',
    valueName: 'host',
    value: { kind: 'text', of: 'a host' },
    repeats: true,
    help: 'name by which browsers may open the dashboard from elsewhere',
    details:
      'As in `dns.example`, without a port. With it `--dashboard` may be an address of the network. The page and its token are then sent without encryption.',
    group: DASHBOARD,
  },
] as const satisfies readonly Flag[];
