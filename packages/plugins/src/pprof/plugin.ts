/**
 * `pprof`: profiles of the process, over HTTP.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseInteger, splitAddress } from '@portolan/corefile/directive/go-values.ts';

export interface PprofOptions {
  /** `host:port` or `:port`. */
  readonly address: string;
  /** The rate of the block profile; 0: off. */
  readonly blockRate: number;
}

const DEFAULT_ADDRESS = 'localhost:6053';

/** `pprof [ADDRESS] { block [RATE] }`. Source: plugin/pprof of CoreDNS 1.14.7. */
export const pprof = definePlugin({
  name: 'pprof',
  syntax: ['pprof [ADDRESS] {', '    block [RATE]', '}'],
  read(cursor): PprofOptions {
    let address = DEFAULT_ADDRESS;
    let blockRate = 0;
    cursor.onlyUse(() => {
      const words = cursor.remainingArguments();
      if (words.length > 1) throw cursor.argumentError();
      address = words[0] ?? address;
      const split = splitAddress(address);
      if (split.kind === 'bad')
        throw cursor.error(split.fault, 'Write the port behind a colon, as in :6053.');
      cursor.properties({
        block: () => {
          blockRate = readRate(cursor);
        },
      });
    });
    return { address, blockRate };
  },
});

function readRate(cursor: DirectiveCursor): number {
  const [text = '1'] = cursor.remainingBetween(0, 1);
  const rate = parseInteger(text);
  if (rate.kind === 'good') return rate.value;
  throw cursor.error(`property 'block' invalid integer value '${text}'`, 'Give a whole number.');
}
