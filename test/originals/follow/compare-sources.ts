/**
 * Compares the sources of each original with our tables.
 */
import type { Checkout } from './checkout.ts';
import { type Difference, missingFrom } from './difference.ts';
import {
  findVariables,
  listMetrics,
  parseConstants,
  parseDirectiveWords,
  parseFlags,
  parsePluginList,
} from './go-source.ts';
import type { OurTables } from './ours.ts';

function compareFlags(
  checkout: Checkout,
  { flags }: OurTables,
  command: string,
  folders: readonly string[],
): readonly Difference[] {
  const texts = folders.flatMap((folder) => checkout.readGo(folder));
  const constants = parseConstants(texts);
  const theirs = texts.flatMap((text) => parseFlags(text, constants));
  if (theirs.length === 0) throw new Error(`no flags of ${command} found in ${folders.join(', ')}`);
  return missingFrom(flags.get(command) ?? new Set(), theirs, (name) => ({
    original: command,
    subject: 'flag',
    name,
    text: `flag of the original that we refuse: -${name}`,
  }));
}

export function compareCoreDns(checkout: Checkout, ours: OurTables): readonly Difference[] {
  const list = parsePluginList(checkout.read('plugin.cfg'));
  const folders = list.filter(([name]) => ours.directives.has(name));
  return [
    ...compareFlags(checkout, ours, 'coredns', ['coremain']),
    ...compareOrder(
      list.map(([name]) => name),
      ours,
    ),
    ...folders.flatMap(([name, folder]) => compareDirective(checkout, ours, name, `plugin/${folder}`)),
    ...compareMetrics(checkout, ours, 'coredns', [
      ...folders.map(([, folder]) => `plugin/${folder}`),
      'plugin/metrics/vars',
      'plugin/pkg/proxy',
      'core/dnsserver',
    ]),
  ];
}

function compareOrder(theirs: readonly string[], { plugins }: OurTables): readonly Difference[] {
  const original = 'coredns';
  const unknown = missingFrom(new Set(plugins), theirs, (name) => ({
    original,
    subject: 'plugin',
    name,
    text: `plugin that our order does not have: ${name}`,
  }));
  const gone = missingFrom(new Set(theirs), plugins, (name) => ({
    original,
    subject: 'plugin',
    name,
    text: `plugin of our order that the original no longer has: ${name}`,
  }));
  const both = theirs.filter((name) => plugins.includes(name));
  const oursInBoth = plugins.filter((name) => both.includes(name));
  const at = both.findIndex((name, index) => name !== oursInBoth[index]);
  if (at === -1) return [...unknown, ...gone];
  const name = both[at] ?? '';
  const text = `order of plugins: the original has ${name} where we have ${oursInBoth[at]}`;
  return [...unknown, ...gone, { original, subject: 'order', name, text }];
}

function compareDirective(
  checkout: Checkout,
  { directives }: OurTables,
  plugin: string,
  folder: string,
): readonly Difference[] {
  const theirs = checkout.readGo(folder).flatMap(parseDirectiveWords);
  return missingFrom(directives.get(plugin) ?? new Set(), theirs, (word) => ({
    original: 'coredns',
    subject: 'directive',
    name: `${plugin}.${word}`,
    text: `word of the directive ${plugin} that our syntax does not have: ${word}`,
  }));
}

function compareMetrics(
  checkout: Checkout,
  { metrics }: OurTables,
  original: string,
  folders: readonly string[],
): readonly Difference[] {
  const theirs = folders.flatMap((folder) => {
    const texts = checkout.readGo(folder);
    const constants = parseConstants(texts);
    return texts.flatMap((text) => listMetrics(text, constants));
  });
  return missingFrom(metrics, theirs, (name) => ({
    original,
    subject: 'metric',
    name,
    text: `metric that we do not have: ${name}`,
  }));
}

export function compareKubeDns(checkout: Checkout, ours: OurTables): readonly Difference[] {
  return [
    ...compareFlags(checkout, ours, 'kube-dns', ['cmd/kube-dns', 'cmd/kube-dns/app/options']),
    ...compareFlags(checkout, ours, 'dnsmasq-nanny', ['cmd/dnsmasq-nanny']),
    ...compareFlags(checkout, ours, 'sidecar', ['cmd/sidecar', 'pkg/sidecar']),
    // Until it was moved to a repository of its own.
    ...(checkout.has('cmd/node-cache') ? compareNodeCache(checkout, ours) : []),
  ];
}

export function compareNodeCache(checkout: Checkout, ours: OurTables): readonly Difference[] {
  const texts = checkout.readGo('cmd/node-cache/app');
  const theirs = new Set(texts.flatMap(findVariables));
  return [
    ...compareFlags(checkout, ours, 'node-cache', ['cmd/node-cache']),
    ...missingFrom(ours.variables, theirs, (name) => ({
      original: 'node-cache',
      subject: 'variable',
      name,
      text: `variable of the template that we do not replace: ${name}`,
    })),
    ...compareMetrics(checkout, ours, 'node-cache', ['cmd/node-cache/app']),
  ];
}

export function compareAutoscaler(checkout: Checkout, ours: OurTables): readonly Difference[] {
  return compareFlags(checkout, ours, 'autoscaler', ['cmd/cluster-proportional-autoscaler/options']);
}
