/**
 * The upstream of resolvers: Knot with one small zone, on another core than the measured servers.
 */
import { ADDRESSES, DOMAIN, KNOWN, LIFETIMES } from '../outside.ts';
import type { Workplace } from '../workplace.ts';
import { startKnotProcess } from './knot-process.ts';
import type { DnsServer } from './server.ts';

/** Seconds: longer than any measurement, so that nothing that was cached expires, but below `live-N`. */
const TTL = 7200;

export function startUpstream(workplace: Workplace): Promise<DnsServer> {
  return startKnotProcess(workplace, {
    name: 'upstream',
    domain: DOMAIN,
    zoneFile: ZONE_FILE,
    probe: KNOWN,
    place: 'other cores',
  });
}

const ZONE_FILE = `$ORIGIN ${DOMAIN}.
$TTL ${TTL}
@ SOA ns hostmaster 1 7200 1800 86400 ${TTL}
@ NS ns
ns A 192.0.2.53
*.there A ${ADDRESSES.A}
*.there AAAA ${ADDRESSES.AAAA}
${LIFETIMES.map((ttl) => `*.live-${ttl} ${ttl} A ${ADDRESSES.A}`).join('\n')}
`;
