/**
 * Our tables of what the originals have: flags, variables, directives, metrics.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COREDNS_FLAGS } from '@portolan/frontends/coredns/settings/coredns-flags.ts';
import { pluginOrder } from '@portolan/frontends/coredns/settings/plugin-order.ts';
import { FURTHER_FLAGS, KUBE_DNS_FLAGS } from '@portolan/frontends/kube-dns/settings/kube-dns-flags.ts';
import { NANNY_FLAGS } from '@portolan/frontends/kube-dns/settings/nanny-flags.ts';
import { NODE_CACHE_FLAGS } from '@portolan/frontends/node-cache/settings/node-cache-flags.ts';
import { COREFILE_PLUGINS } from '@portolan/frontends/plugins/registry.ts';
import { AUTOSCALER_FLAGS } from '@portolan/server/settings/autoscaler/autoscaler-flags.ts';
import type { Flag } from '@portolan/server/settings/flags/flag.ts';
import { KLOG_FLAGS } from '@portolan/server/settings/flags/klog-flags.ts';
import { SIDECAR_FLAGS } from '@portolan/server/settings/sidecar/sidecar-flags.ts';
import { findVariables } from './go-source.ts';

/** Names, some of which may be patterns. */
export interface Names {
  has(name: string): boolean;
}

export interface OurTables {
  /** By command. */
  readonly flags: ReadonlyMap<string, ReadonlySet<string>>;
  readonly variables: ReadonlySet<string>;
  /** Known plugins in order. */
  readonly plugins: readonly string[];
  /** Of each plugin that we have, the words of its syntax. */
  readonly directives: ReadonlyMap<string, ReadonlySet<string>>;
  readonly metrics: Names;
}

const listFlagNames = (flags: readonly Flag[]): ReadonlySet<string> =>
  new Set([...flags.map(({ name }) => name), ...KLOG_FLAGS.keys()]);

export function readOurTables(root: string): OurTables {
  const sources = readSources(join(root, 'packages'));
  return {
    flags: new Map([
      ['coredns', listFlagNames(COREDNS_FLAGS)],
      ['kube-dns', listFlagNames([...KUBE_DNS_FLAGS, ...FURTHER_FLAGS])],
      ['dnsmasq-nanny', listFlagNames(NANNY_FLAGS)],
      ['sidecar', listFlagNames(SIDECAR_FLAGS)],
      ['node-cache', listFlagNames(NODE_CACHE_FLAGS)],
      ['autoscaler', listFlagNames(AUTOSCALER_FLAGS)],
    ]),
    variables: new Set(
      findVariables(
        readFileSync(
          join(root, 'packages/frontends/src/node-cache/settings/render-corefile.ts'),
          'utf8',
        ).replaceAll("'", '"'),
      ),
    ),
    plugins: pluginOrder('1.14'),
    directives: new Map(
      COREFILE_PLUGINS.map(({ name, syntax }) => [name, new Set(syntax.join(' ').match(/[a-z]\w*/g))]),
    ),
    metrics: findMetricNames(sources),
  };
}

/** Of literal texts, also of those with values in them: `coredns_acl_${what}_requests_total`. */
function findMetricNames(sources: readonly string[]): Names {
  const found = new Set(sources.flatMap((text) => text.match(/\bcoredns_(?:\w|\$\{\w+\})+/g) ?? []));
  const patterns = [...found]
    // Of one plugin, with something fixed behind: others would hide what is new.
    .filter((name) => /^coredns_[a-z]+_\$\{\w+\}_\w+$/.test(name))
    .map((name) => new RegExp(`^${name.replaceAll(/\$\{\w+\}/g, '\\w+')}$`));
  return { has: (name) => found.has(name) || patterns.some((pattern) => pattern.test(name)) };
}

function readSources(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
}
