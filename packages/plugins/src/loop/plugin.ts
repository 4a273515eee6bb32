/**
 * `loop`: detects whether forwarded queries come back.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { ROOT } from '@portolan/dns/name.ts';
import { ofKind } from '@portolan/kernel/contract/plugin.ts';
import { BLOCK, PLAN } from '@portolan/kernel/contract/services.ts';
import { Loop } from './loop.ts';
import type { LoopOptions } from './options.ts';

/** `loop`. Source: plugin/loop of CoreDNS 1.14.7. */
export const loop = definePlugin({
  name: 'loop',
  // It asks the upstream servers for a name of its own.
  hasSideEffects: true,
  syntax: ['loop'],
  read(cursor, { zones }): LoopOptions {
    cursor.onlyUse(() => {
      if (cursor.argument() !== undefined)
        throw cursor.argumentError('Take the word out: this plugin has no settings.');
    });
    return { zone: zones[0] ?? ROOT };
  },
  create: (options, context, former) => {
    const { restored } = context.use(PLAN);
    const { handlers } = context.use(BLOCK);
    const dependencies = {
      ...context,
      handlers,
      endProcess: restored.has('loop-goes-on') ? endProcess : undefined,
    };
    return new Loop(options, dependencies, ofKind(Loop, former));
  },
});

/** @param message a line for people, in the words of CoreDNS */
function endProcess(message: string): void {
  process.stdout.write(`[FATAL] ${message}\n`, () => process.exit(1));
}
