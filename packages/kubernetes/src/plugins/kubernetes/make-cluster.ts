/**
 * Makes the plugin for either kind of cluster. Its code is loaded only for blocks that have one.
 */
import { ofKind, type Plugin, type PluginContext } from '@portolan/kernel/contract/plugin.ts';
import { MetadataPlugin } from '@portolan/plugins/metadata/metadata.ts';
import { Transfer } from '@portolan/plugins/transfer/transfer.ts';
import { collectDependencies } from './collect-dependencies.ts';
import { Kubernetes } from './kubernetes-plugin.ts';
import type { AnyClusterOptions } from './options.ts';
import { ProcessCluster } from './process-cluster.ts';

/** @throws RangeError for a zone that leaves no room for services */
export function makeCluster(
  options: AnyClusterOptions,
  context: PluginContext,
  former: Plugin | undefined,
): Plugin {
  if (options.kind === 'process') return new ProcessCluster(options, context, ofKind(ProcessCluster, former));
  const made = new Kubernetes(options, collectDependencies(context), ofKind(Kubernetes, former));
  context.find(MetadataPlugin)?.add(made.facts);
  context.find(Transfer)?.add(made);
  return made;
}
