/**
 * All commands with their flags, for what describes them together: the man page, shell completions, the reference page.
 */
import { AUTOSCALER_FLAGS } from '../config/autoscaler/autoscaler-flags.ts';
import { DECIDE_FLAGS } from '../config/autoscaler/decide-flags.ts';
import { CHECK_FLAGS } from '../config/corefile/check-flags.ts';
import { allOptions } from '../config/dnsmasq/option-table.ts';
import type { Flag } from '../config/flags/flag.ts';
import { HEALTHZ_FLAGS } from '../config/healthz/healthz-flags.ts';
import { FURTHER_FLAGS, KUBE_DNS_FLAGS } from '../config/kube-dns/kube-dns-flags.ts';
import { NANNY_FLAGS } from '../config/kube-dns/nanny-flags.ts';
import { KUBE2SKY_FLAGS } from '../config/kube2sky/kube2sky-flags.ts';
import { MANIFESTS_FLAGS } from '../config/manifests/manifests-flags.ts';
import { NODE_CACHE_FLAGS } from '../config/node-cache/node-cache-flags.ts';
import { CONTROL_FLAGS } from '../config/query-log/control-flags.ts';
import { SERVE_FLAGS } from '../config/serve/serve-flags.ts';
import { SIDECAR_FLAGS } from '../config/sidecar/sidecar-flags.ts';
import { SKYDNS_FLAGS } from '../config/skydns/skydns-flags.ts';
import { COMMAND_SUMMARIES, type CommandName } from './command-summaries.ts';

export interface CommandDescription {
  readonly name: CommandName;
  /** A sentence without a final full stop. */
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** Flags that it accepts too, and that are described elsewhere. */
  readonly further: readonly Flag[];
  /** How it writes its flags. */
  readonly dashes: '-' | '--';
}

const DNSMASQ_FLAGS: readonly Flag[] = allOptions
  .toSorted((one, other) => (one.name < other.name ? -1 : 1))
  .map(({ name, takes, shows = '', means }) => {
    const form = shows.replace(/^\[?=(.*?)\]?$/, '$1');
    // A single name needs no brackets of its own.
    const valueName = /^<([^<>]*)>$/.exec(form)?.[1] ?? (form === '' ? 'value' : form);
    const help = means;
    if (takes === 'nothing') return { name, value: 'none', help };
    return { name, value: { kind: 'text', of: 'a value' }, valueName, help };
  });

function describe(
  name: CommandName,
  flags: readonly Flag[],
  others: Partial<Pick<CommandDescription, 'further' | 'dashes'>> = {},
): CommandDescription {
  return { name, summary: COMMAND_SUMMARIES[name], flags, further: [], dashes: '--', ...others };
}

export const COMMANDS: readonly CommandDescription[] = [
  describe('serve', SERVE_FLAGS),
  describe('kube-dns', KUBE_DNS_FLAGS, { further: FURTHER_FLAGS }),
  describe('node-cache', NODE_CACHE_FLAGS, { dashes: '-' }),
  describe('dnsmasq', DNSMASQ_FLAGS),
  describe('dnsmasq-nanny', NANNY_FLAGS, { dashes: '-' }),
  describe('skydns', SKYDNS_FLAGS, { dashes: '-' }),
  describe('sidecar', SIDECAR_FLAGS),
  describe('healthz', HEALTHZ_FLAGS, { dashes: '-' }),
  describe('autoscaler', AUTOSCALER_FLAGS, { further: DECIDE_FLAGS }),
  describe('kube2sky', KUBE2SKY_FLAGS, { dashes: '-' }),
  describe('manifests', MANIFESTS_FLAGS),
  describe('corefile', CHECK_FLAGS),
  describe('control', CONTROL_FLAGS),
  describe('completion', []),
  describe('man', []),
  describe('systemd', []),
  describe('version', []),
];
