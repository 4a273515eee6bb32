/**
 * How dnsmasq reads hosts files.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { encodeName } from '@portolan/dns/name.ts';
import type { HostsManner } from '@portolan/sources/hosts/hosts-manner.ts';
import { isForReading } from './config-folder.ts';
import { readName } from './names.ts';

export const DNSMASQ_HOSTS: HostsManner = {
  readAddress: parseAddress,
  readName(word) {
    const reading = readName(word);
    if (reading.kind === 'name') return { kind: 'name', name: encodeName(reading.name) };
    return { kind: 'other', warning: reading.kind === 'bad' ? 'name' : 'unaskable' };
  },
  words: 'octets',
  reportsAddresses: true,
  isHostsFile: isForReading,
};
