/**
 * Options that put addresses of answers into sets of nftables. dnsmasq has the first.
 */
import { ROOT } from '@portolan/dns/name.ts';
import { readNftset } from '@portolan/plugins/nftset/read-sets.ts';
import { readNameFor } from './names.ts';
import { textOfOctets, unescapeText } from './octets.ts';
import { flag, type Option, type OptionUse, repeatable } from './option.ts';

export const NFTSET_CLOSED = 'nftset-closed';

export const nftsetOptions: readonly Option[] = [
  repeatable(
    'nftset',
    {
      shows: '=/<domain>[/...]/[4#|6#][<family>#]<table>#<set>[,...]',
      means: 'Put addresses of these domains into sets of nftables',
    },
    addSets,
  ),
  flag(NFTSET_CLOSED, { means: 'Answer SERVFAIL while an address is not in its sets' }, (draft) => {
    draft.nftset.isClosed = true;
  }),
];

function addSets(use: OptionUse, value: string): void {
  const parts = readNftset(unescapeText(value));
  if ('fault' in parts) {
    use.refuse(parts.fault, parts.remedy, textOfOctets(parts.value));
    return;
  }
  const domains = parts.domains.flatMap((domain) =>
    domain === '' ? ROOT : (readNameFor(use, domain) ?? []),
  );
  if (domains.length > 0) use.draft.nftset.rules.push({ domains, sets: parts.sets });
}
