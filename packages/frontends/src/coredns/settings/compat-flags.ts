/**
 * Portolan's own flags that `portolan coredns` and `portolan node-cache` share.
 */
import { ORDER_PROFILES } from '@portolan/corefile/coredns-version.ts';
import { FORMER_NAMES } from '@portolan/server/plan/former-names.ts';
import type { Flag } from '@portolan/server/settings/flags/flag.ts';

/** Of `portolan coredns` and `portolan node-cache`. */
export const BLOCKS_EXTRA_FLAG = {
  name: 'blocks-extra',
  valueName: 'path',
  value: { kind: 'file' },
  help: 'file with further directives, for server blocks of the Corefile',
} as const satisfies Flag;

/** Of the same commands, and of `portolan corefile check`, `explain` and `survey`. */
export const PLUGIN_FLAG = {
  name: 'plugin',
  valueName: 'plugin',
  value: { kind: 'text', of: 'a plugin' },
  repeats: true,
  help: 'plugin of others, as in name=/plugins/module.js',
  details:
    'A path, or a package in `/plugins` or the working directory; `:before=WORD` behind it sets its place.',
} as const satisfies Flag;

/** Of `-compat`, which `compat.ts` reads. */
export const COMPAT_VALUE = {
  kind: 'text',
  of: 'a version, or ids of deviations',
  suggests: ORDER_PROFILES,
} as const;

export const COMPAT_FLAGS = [
  {
    name: 'compat',
    valueName: 'version,-id,…',
    value: COMPAT_VALUE,
    defaultNote: '1.14, with all deviations',
    help: 'version of CoreDNS to keep to, 1.13 or 1.14, or ids of deviations to restore',
    details:
      '`1.14` restores all [deviations](../explanation/dialects.md#against-the-plugins-of-coredns) that have a switch, `1.14,-own-query` all but one, and `own-query,negative-ttl` these alone.',
  },
  {
    name: 'metrics-compat',
    valueName: 'version',
    value: { kind: 'choice', choices: FORMER_NAMES },
    defaultNote: 'those of today alone',
    help: 'version of CoreDNS whose names of metrics are shown too, with those of its run time',
  },
] as const satisfies readonly Flag[];
