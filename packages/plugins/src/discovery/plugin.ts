/**
 * `discovery`: encrypted listeners that clients of plain DNS may discover (RFC 9462). `discovery` of the directive `portolan`, and the
 * flag `--discovery`, put it into a block.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { Discovery } from './discovery.ts';
import type { DiscoveryOptions } from './options.ts';

export const discovery = definePlugin({
  name: 'discovery',
  create: (options: DiscoveryOptions, { clock, log, lookUp }) =>
    new Discovery(options, { clock, log, lookUp }),
});
