/**
 * The names that the program is called by: in an image that stands for one of kube-dns, the file of that image's program is a
 * link to our entry.
 */
import { basename } from 'node:path';

/** Commands by the names of the programs that they stand for. */
const PROGRAMS: ReadonlyMap<string, string> = new Map([
  ['kube-dns', 'kube-dns'],
  ['coredns', 'coredns'],
  ['node-cache', 'node-cache'],
  ['dnsmasq', 'dnsmasq'],
  ['dnsmasq-nanny', 'dnsmasq-nanny'],
  ['skydns', 'skydns'],
  ['sidecar', 'sidecar'],
  ['exechealthz', 'healthz'],
  ['kube2sky', 'kube2sky'],
  ['cluster-proportional-autoscaler', 'autoscaler'],
]);

/**
 * @param entry the path that the program was called by, links not resolved
 * @returns `words`, with the command before them if the name says it
 */
export function wordsAsCalled(entry: string, words: readonly string[]): readonly string[] {
  const command = PROGRAMS.get(basename(entry));
  return command === undefined ? words : [command, ...words];
}
